/** Reeve as it was built, for programs that are made beside the build (build.ts). */
export const { embed } = (await import(
  new URL('./index.js', import.meta.url).href
)) as typeof import('../../src/index.ts')
