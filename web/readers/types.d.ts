/**
 * Properties of all triangles of one material. No property depends on the order of the triangles.
 */
export interface TriangleGroup {
  material: string | null;
  /**
   * Our reader gives the path relative to the folder of the mesh file, and three.js gives the URL.
   * Null without a texture.
   */
  texture: string | null;
  /** Red, green, blue and opacity, each from 0 to 1. The colours are display colours (sRGB). */
  colour: number[] | null;
  /** Number of triangles. */
  triangles: number;
  /** Sum of the areas of the triangles. */
  area: number;
  /** Sum of the signed volumes of the tetrahedra that the triangles form with the origin. */
  volume: number;
  /** Sum of the signed areas of the triangles in texture coordinates. */
  uv_area: number;
  /** The smallest x, y and z of all corners. */
  low: number[];
  /** The largest x, y and z of all corners. */
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
