/**
 * Properties of all triangles of one material. No property depends on the order of the triangles.
 */
export interface TriangleGroup {
  material: string | null;
  texture: string | null;
  colour: number[] | null;
  triangles: number;
  area: number;
  volume: number;
  uv_area: number;
  low: number[];
  high: number[];
}

/** A mesh file as our own reader reads it. */
export interface MeshFile {
  file: string;
  groups: TriangleGroup[];
}

declare global {
  interface Window {
    readMesh(file: string): Promise<TriangleGroup[]>;
  }
}
