/** Types of a project document, as `docs/project.schema.json` describes it. */

export interface ProjectDocument {
  version: 1;
  name: string;
  display_name?: string;
  field: { size: [number, number]; ground?: string | { picture: string } };
  evaluation?: EvaluationDocument;
  [part: string]: unknown;
}

/** The evaluation of a project. */
export interface EvaluationDocument {
  config: EvaluationConfig;
  /** A file of the project, or a built-in template. */
  script?: string | { template: string };
}

/** The settings of an evaluation. */
export interface EvaluationConfig {
  description?: string;
  better?: "lower" | "higher";
  time_limit_s?: number;
  robot?: string;
  allow?: string[];
  vary?: Record<string, unknown>;
}
