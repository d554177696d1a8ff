import { join } from 'node:path'

/** The environment variable with the folder of the built package, for tests and for programs that they start from sources. */
export const BUILT_REEVE = 'BUILT_REEVE'

/** A file of the package that `built-reeve.ts` has built, such as `dist/keeper/main.js`. */
export function builtFile(path: string): string {
  const folder = process.env[BUILT_REEVE]
  if (folder === undefined) throw new Error(`${BUILT_REEVE} is not set: test/built-reeve.ts builds Reeve`)
  return join(folder, path)
}

/** A program of tests, by the name of its file without extension. */
export function builtFixture(name: string): string {
  return builtFile(`dist/fixtures/${name}.js`)
}
