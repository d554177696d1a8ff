import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from '../durable/build.ts'

export interface Packaged {
  /** What `reeve` on a command line is. */
  readonly launcher: string
  /** The entry point of the SDK. */
  readonly reeve: string
}

/** Reeve as an installed package has it: what was built, and the launcher beside it. No types are stripped at a start. */
export async function packaged(): Promise<Packaged> {
  const dist = dirname(await build())
  const root = fileURLToPath(import.meta.resolve('../../'))
  // Below node_modules, so that dependencies are found.
  const folder = join(root, 'node_modules/.cache/reeve-bench-package')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(dist, join(folder, 'dist'), { recursive: true })
  for (const part of ['bin', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  return { launcher: join(folder, 'bin/reeve.mjs'), reeve: join(folder, 'dist/index.js') }
}
