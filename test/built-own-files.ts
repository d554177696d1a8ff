/**
 * `src/package/own-files.ts`, as the kernels of tests import it: their keepers are those of the built package, which start in a
 * sixth of the time.
 */
import { builtFile } from './built-file.ts'

export { launcher, ownText, ownVersion } from '../src/package/own-files.ts'

export function ownProgram(name: string): string {
  return builtFile(`dist/${name}.js`)
}
