/** Loads the analysis with its parser: most programs never need it, so nothing else may import it except for its types. */
export async function loadShellAnalysis(): Promise<typeof import('./analyse.ts')> {
  return import('./analyse.ts')
}
