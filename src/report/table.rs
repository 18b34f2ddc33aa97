//! Tables that every format shares, and their text, folded where the terminal is narrow.

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, presets};

use super::palette::{Palette, Tone};

/// One cell: a figure, its range over the repeats below it, and what it means.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    /// What it says.
    pub text: String,
    /// The range, or nothing.
    pub note: String,
    /// What it means.
    pub tone: Tone,
}

impl Cell {
    /// A cell that means nothing in particular.
    #[must_use]
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A cell with a meaning.
    #[must_use]
    pub(super) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), note: String::new(), tone }
    }
}

/// A table whose first columns name a row, on the left, and whose others hold figures, on the right.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    /// Heads of the columns.
    pub header: Vec<String>,
    /// How many columns name the row.
    pub keys: usize,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Drops the columns that no row fills.
    pub(super) fn drop_empty_columns(&mut self) {
        for column in (0..self.header.len()).rev() {
            if self.rows.iter().all(|row| row[column].text.is_empty()) {
                self.header.remove(column);
                self.keys -= usize::from(column < self.keys);
                for row in &mut self.rows {
                    row.remove(column);
                }
            }
        }
    }

    /// The table in `width` columns of a terminal. Where it is too wide it is folded: columns that do not fit follow
    /// below, with the names of the rows repeated.
    #[must_use]
    pub(super) fn text(&self, width: usize, palette: Palette) -> String {
        let widths = self.grid(0..self.header.len(), palette).column_max_content_widths();
        let width_of = |column: usize| usize::from(widths[column]) + GAP;
        let keys: usize = (0..self.keys).map(width_of).sum();
        let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
        let mut used = keys;
        for column in self.keys..self.header.len() {
            if used + width_of(column) > width + GAP && parts.last().is_some_and(|part| !part.is_empty()) {
                parts.push(Vec::new());
                used = keys;
            }
            used += width_of(column);
            parts.last_mut().expect("it is never empty").push(column);
        }
        let text = |part: Vec<usize>| self.grid((0..self.keys).chain(part), palette).trim_fmt();
        parts.into_iter().map(text).collect::<Vec<_>>().join("\n\n") + "\n"
    }

    fn grid(&self, columns: impl Iterator<Item = usize>, palette: Palette) -> Grid {
        let columns: Vec<usize> = columns.collect();
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        if palette.is_on() {
            grid.enforce_styling();
        } else {
            grid.force_no_tty();
        }
        grid.set_header(columns.iter().map(|&column| palette.cell(&self.header[column], Tone::Head)));
        for row in &self.rows {
            grid.add_row(columns.iter().map(|&column| palette.cell(&row[column].text, row[column].tone)));
            if columns.iter().any(|&column| !row[column].note.is_empty()) {
                grid.add_row(columns.iter().map(|&column| palette.cell(&row[column].note, Tone::Quiet)));
            }
        }
        for (place, column) in columns.iter().enumerate() {
            let column_style = grid.column_mut(place).expect("the header has this column");
            column_style.set_padding((0, GAP as u16));
            if *column >= self.keys {
                column_style.set_cell_alignment(CellAlignment::Right);
            }
        }
        grid
    }

    /// The table in GitHub's Markdown.
    #[must_use]
    pub(super) fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let escaped = |text: &str| text.replace('|', "\\|");
        let mut text = line(&mut self.header.iter().map(|head| escaped(head)));
        let rule = |column: usize| if column < self.keys { "---" } else { "--:" }.to_owned();
        text += &line(&mut (0..self.header.len()).map(rule));
        for row in &self.rows {
            text += &line(&mut row.iter().map(|cell| {
                let note =
                    if cell.note.is_empty() { String::new() } else { format!("<br>{}", escaped(&cell.note)) };
                escaped(&cell.text) + &note
            }));
        }
        text
    }
}

/// Blanks between two columns.
const GAP: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let cell = |text: &str, note: &str| Cell { note: note.to_owned(), ..Cell::plain(text) };
        Table {
            header: ["arm", "IOPS", "empty", "mean", "p99"].map(str::to_owned).into(),
            keys: 1,
            rows: vec![
                vec![
                    cell("krbd", ""),
                    cell("12.3k", "11-13k"),
                    cell("", ""),
                    cell("2 ms", ""),
                    cell("9 ms", ""),
                ],
                vec![cell("librbd", ""), cell("9", ""), cell("", ""), cell("3 ms", ""), cell("10 ms", "")],
            ],
        }
    }

    #[test]
    fn names_stand_left_and_figures_right_with_the_range_below() {
        let mut table = table();
        table.drop_empty_columns();
        let text = "arm       IOPS  mean    p99\n\
                    krbd     12.3k  2 ms   9 ms\n\
                    \x20       11-13k\n\
                    librbd       9  3 ms  10 ms\n";
        assert_eq!(table.text(27, Palette::off()), text);
    }

    #[test]
    fn a_table_that_is_too_wide_goes_on_below_with_the_names_repeated() {
        let mut table = table();
        table.drop_empty_columns();
        let text = "arm       IOPS  mean\n\
                    krbd     12.3k  2 ms\n\
                    \x20       11-13k\n\
                    librbd       9  3 ms\n\
                    \n\
                    arm       p99\n\
                    krbd     9 ms\n\
                    librbd  10 ms\n";
        assert_eq!(table.text(26, Palette::off()), text);
        assert!(
            table.text(1, Palette::off()).lines().count() > 9,
            "a column that never fits still gets its own part"
        );
    }

    #[test]
    fn markdown_keeps_the_range_within_the_cell() {
        assert!(table().markdown().contains("| krbd | 12.3k<br>11-13k |  | 2 ms | 9 ms |\n"));
    }
}
