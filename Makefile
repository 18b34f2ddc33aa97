.DEFAULT_GOAL := help
.PHONY: help demo test bench claims setup setup-test

# A shell that is no login shell lacks rustup's directory.
export PATH := $(PATH):$(HOME)/.cargo/bin

help: ## Say what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

demo: setup ## Install what is missing, build, and benchmark a throwaway Ceph cluster on this host
	cargo build --release --locked
	cargo run --release --locked --quiet -- run --lab configs/quickstart.yaml

test: setup-test ## Install what is missing, check format and lints, run all tests; cluster tests on a throwaway cluster
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked

# Arguments of the comparison, such as `make bench BENCH="--only null --rounds 9"`; see benches/peers/main.rs.
BENCH ?=

bench: setup-test ## Install what is missing, and compare with fio, in turn, on a throwaway cluster; goals that are missed are named
	cargo bench --locked --no-run --bench peers
	cargo run --release --locked --quiet -- lab run --dir "$${TMPDIR:-/tmp}/cephmark-bench-$$$$" --size 4GiB -- \
	    cargo bench --locked --quiet --bench peers -- $(BENCH)

# Arguments of the questions, such as `make claims CLAIMS="--only equal-arms --runs 5"`; see benches/claims/main.rs.
CLAIMS ?=

claims: setup-test ## Install what is missing, and count right verdicts and tunings where the truth is known, on a throwaway cluster
	cargo bench --locked --no-run --bench claims
	cargo run --release --locked --quiet -- lab run --dir "$${TMPDIR:-/tmp}/cephmark-claims-$$$$" --size 4GiB -- \
	    cargo bench --locked --quiet --bench claims -- $(CLAIMS)

setup: ## Install what the demo needs and this machine lacks
	@scripts/setup.sh demo

setup-test: ## Install what the tests need and this machine lacks
	@scripts/setup.sh test
