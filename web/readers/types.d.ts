/** What can be said of the triangles of one material without an order. */
export interface Facts {
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

/** A mesh file. */
export interface Mesh {
  file: string;
  groups: Facts[];
}

declare global {
  interface Window {
    readMesh(file: string): Promise<Facts[]>;
  }
}
