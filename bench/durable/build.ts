import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** How a child process learns where the build is. */
export const BUILD = 'REEVE_BENCH_BUILD'

/**
 * Reeve as it is published, for measurements in which a process is started: stripping the types of every source at
 * each start costs more than the recovery that is measured. Below `node_modules`, so that dependencies are found.
 */
export async function build(): Promise<string> {
  const root = fileURLToPath(import.meta.resolve('../../'))
  const folder = join(root, 'node_modules/.cache/reeve-bench')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
  const args = [join(dirname(typescript), 'bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', folder]
  await promisify(execFile)(
    process.execPath,
    [...args, '--noCheck', '--declaration', 'false', '--sourceMap', 'false'],
    { cwd: root },
  )
  return join(folder, 'index.js')
}
