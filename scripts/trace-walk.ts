/**
 * Follows one command through the sources: which files does `reeve run -- true` go through, in which order, and how often does a
 * reader who follows it change the folder? A file counts if more than MIN_STATEMENTS of its statements run that do not run in an
 * idle daemon. Prints the walk of the longest run, and the figures of all runs.
 *
 *   npm run walk                    or, for another command:    npm run walk -- --runs 7 -- ps
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Noted } from './trace-statements.ts'

const MIN_STATEMENTS = 8
/** Longer than the longest interval of a daemon's own work. */
const IDLE_MS = 16_000
/** Until the daemon and the keeper have done what follows a command's end. */
const SETTLE_MS = 300
const ROLES = ['cli', 'daemon', 'keeper'] as const

interface Visited {
  readonly file: string
  readonly statements: number
  readonly atNs: number
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string', default: '7' } },
})
const words = positionals.length === 0 ? ['run', '--', 'true'] : positionals
const folder = mkdtempSync(join(tmpdir(), 'reeve-walk-'))
const home = mkdtempSync(join(tmpdir(), 'reeve-home-'))
const { REEVE_PROCESS: _, REEVE_SESSION: __, ...inherited } = process.env
const env = { ...inherited, REEVE_HOME: home, REEVE_LISTEN: 'off', REEVE_TRACE: folder }
const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const hook = join(import.meta.dirname, 'trace-statements.ts')

setPhase('off')
const daemon = reeve(['up'])
try {
  await once(daemon.stdout, 'data')
  // The first command starts the keeper, and fills caches.
  for (let warm = 0; warm < 3; warm++) await ended(reeve(words))
  await phase('idle')
  await sleep(IDLE_MS)
  await phase('off')
  const idle = new Set(['daemon', 'keeper'].flatMap((role) => notedBy(role, 'idle')).map(keyOf))
  const walks: Visited[][] = []
  for (let run = 0; run < Number(values.runs); run++) {
    await phase('run')
    await ended(reeve(words))
    await sleep(SETTLE_MS)
    await phase('off')
    walks.push(walkOf(idle))
  }
  report(walks)
} finally {
  await ended(reeve(['down']))
  if (daemon.exitCode === null) await once(daemon, 'exit')
  rmSync(folder, { recursive: true, force: true })
  rmSync(home, { recursive: true, force: true })
}

function reeve(args: readonly string[]) {
  // In the environment, so that the keeper gets it, too.
  const options = `--conditions=reeve-source --disable-warning=ExperimentalWarning --import=${hook}`
  return spawn(process.execPath, [main, ...args], {
    env: { ...env, NODE_OPTIONS: options },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function ended(child: ReturnType<typeof reeve>): Promise<void> {
  child.stdout.resume()
  await once(child, 'exit')
}

function setPhase(name: string): void {
  writeFileSync(join(folder, 'phase'), name)
}

/** Begins a phase, and waits until the programs have noticed it. */
async function phase(name: string): Promise<void> {
  setPhase(name)
  const confirmed = ['daemon', 'keeper'].map((role) => join(folder, `${role}.phase`))
  while (!confirmed.every((file) => existsSync(file) && readFileSync(file, 'utf8') === name)) await sleep(10)
}

function notedBy(role: string, during: string): Noted[] {
  const file = join(folder, `${role}.${during}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Noted[]) : []
}

function keyOf({ file, statement }: Noted): string {
  return `${file} ${statement}`
}

/** The files of one run, in the order in which they begin. */
function walkOf(idle: ReadonlySet<string>): Visited[] {
  const noted = ROLES.flatMap((role) => notedBy(role, 'run')).filter((one) => !idle.has(keyOf(one)))
  const files = Map.groupBy(noted, ({ file }) => file)
  return [...files]
    .map(([file, all]) => ({
      file,
      statements: new Set(all.map(({ statement }) => statement)).size,
      atNs: Math.min(...all.map(({ atNs }) => atNs)),
    }))
    .filter(({ statements }) => statements > MIN_STATEMENTS)
    .sort((one, other) => one.atNs - other.atNs)
}

function changesOfFolder(walk: readonly Visited[]): number {
  return walk.filter(({ file }, index) => index > 0 && dirname(file) !== dirname(walk[index - 1]?.file ?? ''))
    .length
}

function report(walks: readonly (readonly Visited[])[]): void {
  const longest = walks.reduce((one, other) => (other.length > one.length ? other : one))
  let last = ''
  for (const { file, statements } of longest) {
    if (dirname(file) !== last) console.log(`\n${dirname(file)}`)
    last = dirname(file)
    console.log(`  ${file.slice(last.length + 1)}  ${statements}`)
  }
  console.log('\nfiles and changes of folder of each run:')
  console.log(walks.map((walk) => `${walk.length}/${changesOfFolder(walk)}`).join('  '))
}
