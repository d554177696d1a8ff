/** Runs all gates, also after a failure, and reports which passed. */
import { spawnSync } from 'node:child_process'

const gates: Record<string, readonly string[]> = {
  format: ['biome', 'format'],
  lint: ['biome', 'check', '--formatter-enabled=false', '--error-on-warnings'],
  types: ['tsc', '-p', 'tsconfig.json'],
  boundaries: ['node', 'scripts/check-boundaries.ts'],
  unused: ['knip', '--no-config-hints'],
}

const failed = Object.keys(gates).filter((gate) => !passes(gate))
console.log(failed.length === 0 ? 'All gates ok.' : `Failed: ${failed.join(', ')}.`)
process.exitCode = failed.length === 0 ? 0 : 1

function passes(gate: string) {
  const [program = '', ...args] = gates[gate] ?? []
  // On Windows the programs are .cmd files, which need a shell.
  const run = spawnSync(program, args, { encoding: 'utf8', shell: process.platform === 'win32' })
  const ok = run.status === 0
  console.log(`${gate}: ${ok ? 'ok' : 'failed'}`)
  if (!ok) console.log(run.error?.message ?? `${run.stdout}${run.stderr}`)
  return ok
}
