//! Linear algebra for 3×3 matrices: linear systems, inverses and eigenvectors.

#![allow(clippy::needless_range_loop)] // Matrix code is clearer with row and column indices.

/// A 3×3 matrix.
pub(super) type Matrix = [[f64; 3]; 3];

/// Solves a symmetric positive definite system. Returns `None` if `m` has no inverse.
pub(super) fn solve(m: &Matrix, v: &[f64; 3]) -> Option<[f64; 3]> {
    let inverse = inverse(m)?;
    Some(std::array::from_fn(|i| (0..3).map(|j| inverse[i][j] * v[j]).sum()))
}

/// The inverse of a symmetric positive definite matrix, if there is one.
pub(super) fn inverse(m: &Matrix) -> Option<Matrix> {
    let cofactor = |a: usize, b: usize, c: usize, d: usize| m[a][b] * m[c][d] - m[a][d] * m[c][b];
    let c = [cofactor(1, 1, 2, 2), cofactor(1, 2, 2, 0), cofactor(1, 0, 2, 1)];
    let determinant = m[0][0] * c[0] + m[0][1] * c[1] + m[0][2] * c[2];
    if !(determinant > 0.0 && determinant.is_finite()) {
        return None;
    }
    let d = 1.0 / determinant;
    let (xy, xz) = (c[1] * d, c[2] * d);
    let yz = (m[0][1] * m[0][2] - m[0][0] * m[1][2]) * d;
    let yy = (m[0][0] * m[2][2] - m[0][2] * m[0][2]) * d;
    let zz = (m[0][0] * m[1][1] - m[0][1] * m[0][1]) * d;
    Some([[c[0] * d, xy, xz], [xy, yy, yz], [xz, yz, zz]])
}

/// Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi rotations. Each row of the second
/// value is an eigenvector.
pub(super) fn eigen(mut m: Matrix) -> ([f64; 3], Matrix) {
    let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..8 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if m[p][q].abs() <= 1e-14 * (m[p][p].abs() + m[q][q].abs()) {
                continue;
            }
            let theta = 0.5 * (m[q][q] - m[p][p]) / m[p][q];
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut m {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            for k in 0..3 {
                (m[p][k], m[q][k]) = (c * m[p][k] - s * m[q][k], s * m[p][k] + c * m[q][k]);
            }
            for k in 0..3 {
                let (a, b) = (vectors[p][k], vectors[q][k]);
                (vectors[p][k], vectors[q][k]) = (c * a - s * b, s * a + c * b);
            }
        }
    }
    ([m[0][0], m[1][1], m[2][2]], vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_the_identity() {
        let m = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]];
        let inverse = inverse(&m).expect("it has one");
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| m[i][k] * inverse[k][j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        assert_eq!(super::inverse(&[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), None);
    }

    #[test]
    fn eigenvectors_and_eigenvalues_reproduce_the_matrix() {
        let m = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]];
        let (values, vectors) = eigen(m);
        for i in 0..3 {
            for j in 0..3 {
                let again: f64 = (0..3).map(|k| values[k] * vectors[k][i] * vectors[k][j]).sum();
                assert!((again - m[i][j]).abs() < 1e-12, "{i} {j}");
            }
        }
    }
}
