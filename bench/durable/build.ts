import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../../scripts/build.ts'

export interface Built {
  /** The entry point of the SDK. */
  readonly reeve: string
  /** What `reeve` on a command line is. */
  readonly launcher: string
}

/**
 * A build of Reeve, for measurements that start a process: stripping types at each start costs more than what is measured.
 * It lies below `node_modules`, so that dependencies are found.
 */
export async function build(): Promise<Built> {
  const root = fileURLToPath(import.meta.resolve('../../'))
  const folder = join(root, 'node_modules/.cache/reeve-bench')
  rmSync(folder, { recursive: true, force: true })
  await bundle(join(folder, 'dist'))
  for (const part of ['bin', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  return { reeve: join(folder, 'dist/index.js'), launcher: join(folder, 'bin/reeve.mjs') }
}

/** A program of a suite, without types, that finds Reeve in `./index.js`: stripping them at run time would count as Reeve's cost. */
export function madeBeside(reeve: string, source: string): string {
  const file = fileURLToPath(source)
  const stripped = stripTypeScriptTypes(readFileSync(file, 'utf8'))
  const made = join(dirname(reeve), `bench-${basename(file, '.ts')}.mjs`)
  writeFileSync(made, stripped.replaceAll(/from '\.\/([\w-]+)\.ts'/g, "from './bench-$1.mjs'"))
  return made
}
