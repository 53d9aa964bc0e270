//! A spatial index. The points are sorted into square cells, so that the points near a position are
//! found quickly.

use glam::DVec2;

/// Maximum length of one side of the grid, in cell lengths. The grid has at most one cell more
/// along this side, because a point exactly at the far end gets a cell of its own.
const MAX_CELLS: f64 = 128.0;

/// The indices of points, grouped by cell.
pub(crate) struct Grid {
    low: DVec2,
    cell: f64,
    columns: usize,
    rows: usize,
    /// Index in `order` of the first point of each cell. The last element is the number of points.
    starts: Vec<usize>,
    order: Vec<usize>,
}

impl Grid {
    /// Sorts points into square cells. The sides of a cell are at least `cell` metres long.
    pub(crate) fn of(points: &[DVec2], cell: f64) -> Grid {
        let (mut low, mut high) = (DVec2::ZERO, DVec2::ZERO);
        if let Some(first) = points.first() {
            (low, high) = points.iter().fold((*first, *first), |(l, h), p| (l.min(*p), h.max(*p)));
        }
        let extent = (high - low).max_element();
        let cell = cell.max(extent / MAX_CELLS).max(1e-3);
        let count = |length: f64| (length / cell) as usize + 1;
        let (columns, rows) = (count(high.x - low.x), count(high.y - low.y));
        let mut grid = Grid {
            low,
            cell,
            columns,
            rows,
            starts: vec![0; columns * rows + 1],
            order: vec![0; points.len()],
        };
        for p in points {
            let cell = grid.cell_of(*p);
            grid.starts[cell + 1] += 1;
        }
        for i in 1..grid.starts.len() {
            grid.starts[i] += grid.starts[i - 1];
        }
        let mut free = grid.starts.clone();
        for (i, p) in points.iter().enumerate() {
            let cell = grid.cell_of(*p);
            grid.order[free[cell]] = i;
            free[cell] += 1;
        }
        grid
    }

    fn cell_of(&self, p: DVec2) -> usize {
        let [x, y] = ((p - self.low) / self.cell).to_array().map(|v| v.max(0.0) as usize);
        y.min(self.rows - 1) * self.columns + x.min(self.columns - 1)
    }

    /// The indices of all points within `reach` metres of `p`. The result can contain farther
    /// points too, because it has all points of each cell that is partly within `reach`.
    pub(crate) fn near(&self, p: DVec2, reach: f64) -> impl Iterator<Item = usize> {
        let side = |v: f64, count: usize| (v / self.cell).clamp(0.0, count as f64 - 1.0) as usize;
        let (a, b) = (p - self.low - reach, p - self.low + reach);
        let columns = side(a.x, self.columns)..=side(b.x, self.columns);
        let rows = side(a.y, self.rows)..=side(b.y, self.rows);
        rows.flat_map(move |y| {
            let row = y * self.columns;
            let (from, to) = (self.starts[row + columns.start()], self.starts[row + columns.end() + 1]);
            self.order[from..to].iter().copied()
        })
    }
}
