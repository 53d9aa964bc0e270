//! The instruction sets for which the inner loops are compiled.
//!
//! Every set gives the same bytes, because all of them execute the same integer and IEEE operations
//! in the same order. A wider set only computes more values at once.

/// A set of processor instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// The instructions that every supported processor has.
    Portable,
    /// AVX2, BMI1, BMI2 and LZCNT of x86-64: registers of 256 bits.
    Avx2,
    /// AVX-512 (F, BW, DQ and VL) of x86-64: registers of 512 bits.
    Avx512,
}

impl Instructions {
    /// All sets, the narrowest first.
    pub const ALL: [Instructions; 3] = [Instructions::Portable, Instructions::Avx2, Instructions::Avx512];

    /// The widest set that this processor has.
    pub fn best() -> Instructions {
        let available = |set: &Instructions| set.is_available();
        Instructions::ALL.into_iter().rfind(available).unwrap_or(Instructions::Portable)
    }

    /// Whether this processor has the set. The standard library detects the features once and
    /// caches the result.
    pub fn is_available(self) -> bool {
        match self {
            Instructions::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("bmi1")
                    && std::arch::is_x86_feature_detected!("bmi2")
                    && std::arch::is_x86_feature_detected!("lzcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => {
                Instructions::Avx2.is_available()
                    && std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Instructions::Avx2 | Instructions::Avx512 => false,
        }
    }

    /// This set if the processor has it, otherwise the widest narrower set.
    pub(crate) fn checked(self) -> Checked {
        Checked(if self.is_available() { self } else { self.min(Instructions::best()) })
    }
}

/// Instructions that the processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checked(Instructions);

impl Checked {
    pub(crate) fn get(self) -> Instructions {
        self.0
    }
}
