/**
 * Runs hundreds of commands under a daemon that is killed every second: `npm run soak -- --minutes 2 [--keeper] [--seed n]`.
 * With --full-disk the home is on a small disk that is filled and freed repeatedly.
 * The last line and the exit code say whether every line, every exit code and every outcome is right.
 *
 * `--few-descriptors` runs more commands than daemon and keeper have descriptors for. `--quick-commands n` reports the memory
 * of daemon and keeper while n commands come and go.
 *
 * `npm run soak -- agent --kills 100` kills daemons at every sort of write of a turn and at random, while agents get inputs, cancels and
 * pauses, and counts tools that ran twice, lost inputs and invalid prompts.
 *
 * `npm run soak -- acp --kills 100` kills daemons in the turns of outside agents, and counts updates that were lost or came twice.
 *
 * `npm run soak -- mcp --kills 100` kills daemons, and MCP servers on standard input and output, in the middle of calls, and counts calls that
 * were sent twice and answers that were lost.
 *
 * `npm run soak -- approvals --kills 100` kills daemons at every write between a request to a person, its answer and the start, and
 * counts the effects.
 */
import { parseArgs } from 'node:util'
import { BUILT_REEVE } from '../built-file.ts'
import { builtReeve } from '../built-reeve.ts'
import { canMount } from '../small-disk.ts'
import { soakAgents } from './agents.ts'
import { type ApprovalSoakReport, soakApprovals } from './approvals.ts'
import { soakDenials } from './denials.ts'
import { OPEN_FILES, soakFewDescriptors } from './few-descriptors.ts'
import { fullDiskSoak } from './full-disk.ts'
import { type SoakedStore, STORES } from './killed-soak.ts'
import { soakOutside } from './outside.ts'
import { soakQuickCommands } from './quick-commands.ts'
import { soakServers } from './servers.ts'
import { soak } from './soak.ts'

const HELP = `npm run soak -- [options]

  --minutes <n>    how long, 2 by default; 0.2 is 12 seconds
  --keeper         kills keepers too
  --full-disk      a home on a small disk that is filled repeatedly; needs the right to mount one
  --commands <n>   how many run at once, 50 by default; 10 with --full-disk
  --seed <n>       repeats the choices of an earlier run, though not its timing

  --few-descriptors   more commands than daemon and keeper have descriptors for, with --minutes and --seed
  --quick-commands <n>   n commands that end at once; reports the memory of daemon and keeper
  --snapshots <folder>   with --quick-commands: heap snapshots, at the first report and at the last

npm run soak -- approvals [--kills <n>] [--store <name>] [--seed <n>]
npm run soak -- agent [--kills <n>] [--store <name>] [--seed <n>]
npm run soak -- acp [--kills <n>] [--store <name>] [--seed <n>]
npm run soak -- mcp [--kills <n>] [--store <name>] [--seed <n>]

  --kills <n>      how many daemons are killed, 100 by default, on all stores together
  --store <name>   sqlite or postgres; both by default

npm run soak -- denials [--count <n>] [--store <name>]

  --count <n>      how many denied requests a session makes, a million by default
`
const MAX_PROBLEMS = 20

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    commands: { type: 'string' },
    kills: { type: 'string', default: '100' },
    store: { type: 'string' },
    count: { type: 'string', default: '1000000' },
    keeper: { type: 'boolean', default: false },
    'quick-commands': { type: 'string' },
    snapshots: { type: 'string' },
    'few-descriptors': { type: 'boolean', default: false },
    'full-disk': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const isFullDisk = values['full-disk']
const isApprovals = positionals[0] === 'approvals'
const isDenials = positionals[0] === 'denials'
const isAgent = positionals[0] === 'agent'
const isOutside = positionals[0] === 'acp'
const isServers = positionals[0] === 'mcp'
const stores = STORES.filter((store) => values.store === undefined || store === values.store)
const kills = Number(values.kills)
const [minutes, seed, commands] = [
  values.minutes,
  values.seed,
  values.commands ?? (isFullDisk ? 10 : 50),
].map(Number)
const isUsable =
  [minutes, seed, commands].every((value) => Number.isFinite(value)) &&
  Number(commands) >= 1 &&
  Number.isInteger(kills) &&
  kills >= 1 &&
  stores.length > 0 &&
  Number(values.count) >= 1 &&
  positionals.length === (isApprovals || isDenials || isAgent || isOutside || isServers ? 1 : 0)
if (values.help || !isUsable) {
  process.stdout.write(HELP)
  process.exit(values.help ? 0 : 2)
}

process.env[BUILT_REEVE] ??= await builtReeve()
const say = (line: string) => void process.stdout.write(`${line}\n`)
if (isApprovals) process.exitCode = await approvals(stores)
else if (isAgent) process.exitCode = await agents(stores)
else if (isOutside) process.exitCode = await outsideAgents(stores)
else if (isServers) process.exitCode = await servers(stores)
else if (isDenials) process.exitCode = await denials(Number(values.count), stores)
else if (values['quick-commands'] !== undefined) await withQuickCommands(Number(values['quick-commands']))
else if (values['few-descriptors']) await withFewDescriptors()
else if (isFullDisk) process.exitCode = await fullDisk()
else await withKills()

/** Returns the exit code. */
async function approvals(on: readonly SoakedStore[]): Promise<number> {
  say(`${kills} kills on ${on.join(' and ')}, seed ${seed}`)
  const report = await soakApprovals({ kills, stores: on, seed: Number(seed), say })
  for (const problem of wrongIn(report).slice(0, MAX_PROBLEMS)) say(`  ${problem}`)
  const { approved, denied, expired, withdrawn, edited, repeated, counted } = report
  const { doubled, lost, begunWithoutYes, problems } = report
  const killed = `${report.kills} daemons killed, ${report.killsAtWrites} of them at a write`
  const answered = `${approved} actions approved, ${denied} denied, ${expired} expired, ${withdrawn} withdrawn`
  const lasting = `${edited} edited, ${repeated} repeated by a lasting answer, ${counted} counted uses spent`
  const found = `${doubled.length} doubled, ${lost.length} lost, ${begunWithoutYes.length} begun without a yes`
  const other = problems.length === 0 ? '' : `${problems.length} other problems; `
  say(`${killed}; ${answered}; ${lasting}; seed ${seed}; ${other}${found}`)
  return wrongIn(report).length === 0 ? 0 : 1
}

/** Returns the exit code. */
async function agents(on: readonly SoakedStore[]): Promise<number> {
  say(`${kills} kills on ${on.join(' and ')}, seed ${seed}`)
  const report = await soakAgents({ kills, stores: on, seed: Number(seed), say })
  const { runTwice, lostInputs, invalidPrompts, problems } = report
  const wrong = [...runTwice, ...lostInputs, ...invalidPrompts, ...problems]
  for (const problem of wrong.slice(0, MAX_PROBLEMS)) say(`  ${problem}`)
  const killed = `${report.kills} daemons killed, ${report.killsAtWrites} of them at a write`
  const { rolledBack, cancelled, crashed } = report
  const turns = `${report.turns} turns (${cancelled} cancelled, ${rolledBack} rolled back, ${crashed} crashed)`
  const work = `${report.agents} agents, ${turns}, ${report.inputs} inputs, ${report.tools} tool calls, ${report.requests} model calls`
  const found = `${runTwice.length} tools run twice, ${lostInputs.length} inputs lost, ${invalidPrompts.length} invalid prompts`
  const other = problems.length === 0 ? '' : `${problems.length} other problems; `
  say(`${killed}; ${work}; seed ${seed}; ${other}${found}`)
  return wrong.length === 0 ? 0 : 1
}

/** Returns the exit code. */
async function outsideAgents(on: readonly SoakedStore[]): Promise<number> {
  say(`${kills} kills on ${on.join(' and ')}, seed ${seed}`)
  const report = await soakOutside({ kills, stores: on, seed: Number(seed), say })
  const { lost, doubled, askedTwice, unanswered, problems } = report
  const wrong = [...lost, ...doubled, ...askedTwice, ...unanswered, ...problems]
  for (const problem of wrong.slice(0, MAX_PROBLEMS)) say(`  ${problem}`)
  const killed = `${report.kills} daemons killed, ${report.killsAtWrites} of them at a write`
  const work = `${report.agents} agents, ${report.turns} turns (${report.crashed} crashed), ${report.updates} updates, ${report.permissions} permissions`
  const updates = `${lost.length} updates lost, ${doubled.length} doubled`
  const asked = `${askedTwice.length} permissions asked twice, ${unanswered.length} prompts unanswered`
  const other = problems.length === 0 ? '' : `${problems.length} other problems; `
  say(`${killed}; ${work}; seed ${seed}; ${other}${updates}, ${asked}`)
  return wrong.length === 0 ? 0 : 1
}

/** Returns the exit code. */
async function servers(on: readonly SoakedStore[]): Promise<number> {
  say(`${kills} kills on ${on.join(' and ')}, seed ${seed}`)
  const report = await soakServers({ kills, stores: on, seed: Number(seed), say })
  const { sentTwice, lost, askedTwice, problems } = report
  const wrong = [...sentTwice, ...lost, ...askedTwice, ...problems]
  for (const problem of wrong.slice(0, MAX_PROBLEMS)) say(`  ${problem}`)
  const killed = `${report.kills} daemons killed, ${report.killsAtWrites} of them at a write, ${report.serversKilled} servers killed in a call`
  const work = `${report.agents} agents, ${report.turns} turns (${report.crashed} crashed), ${report.calls} calls (${report.carried} went on in another daemon), ${report.questions} questions`
  const found = `${sentTwice.length} calls sent twice, ${lost.length} answers lost, ${askedTwice.length} questions asked twice`
  const other = problems.length === 0 ? '' : `${problems.length} other problems; `
  say(`${killed}; ${work}; seed ${seed}; ${other}${found}`)
  return wrong.length === 0 ? 0 : 1
}

/** Returns the exit code. */
async function denials(count: number, on: readonly SoakedStore[]): Promise<number> {
  let failed = 0
  for (const store of on) {
    const report = await soakDenials({ denials: count, store, say })
    for (const problem of report.problems) say(`  ${problem}`)
    const [early, late] = report.heapBytes.map((bytes) => Math.round(bytes / 1024 ** 2))
    const sizes = `the store has ${Math.round(report.storeBytes / 1024)} KiB, the heap ${early} → ${late} MB`
    const held = report.problems.length === 0 ? 'The soak held' : 'The soak FAILED'
    const made = `${count} denials on ${store} in ${Math.round(report.seconds)} s made ${report.entries} entries`
    say(`${held}: ${made} (at most ${report.mostEntries}); ${sizes}.`)
    failed += report.problems.length
  }
  return failed === 0 ? 0 : 1
}

function wrongIn({ doubled, lost, begunWithoutYes, problems }: ApprovalSoakReport): readonly string[] {
  return [...doubled, ...lost, ...begunWithoutYes, ...problems]
}

async function withQuickCommands(commands: number): Promise<void> {
  const { snapshots } = values
  const report = await soakQuickCommands({ commands, say, ...(snapshots === undefined ? {} : { snapshots }) })
  for (const problem of report.problems.slice(0, MAX_PROBLEMS)) say(`  ${problem}`)
  const growth = (['daemon', 'keeper'] as const).map((who) => {
    const [first, last] = [report[who].at(0), report[who].at(-1)]
    return `${who} ${first?.rss} → ${last?.rss} MB, heap ${first?.heap} → ${last?.heap} MB`
  })
  const hasHeld = report.problems.length === 0
  say(
    `The soak ${hasHeld ? 'held' : `FAILED: ${report.problems.length} problems`}: ${report.ended} quick commands; ${growth.join('; ')}.`,
  )
  if (!hasHeld) process.exitCode = 1
}

async function withFewDescriptors(): Promise<void> {
  say(`${OPEN_FILES} descriptors for ${minutes} minutes, seed ${seed}`)
  const report = await soakFewDescriptors({ minutes: Number(minutes), seed: Number(seed), say })
  for (const problem of report.problems.slice(0, MAX_PROBLEMS)) say(`  ${problem}`)
  const counts = `${report.begun} commands begun, ${report.mostAtOnce} at once, ${report.refused} refused, ${report.killed} killed`
  if (report.problems.length === 0) {
    say(`The soak held: ${counts}; every refusal was too_many_commands, every kill ended. Seed ${seed}.`)
  } else {
    say(`The soak FAILED: ${report.problems.length} problems; ${counts}. Seed ${seed}.`)
    process.exitCode = 1
  }
}

async function withKills(): Promise<void> {
  const { keeper } = values
  say(
    `${commands} commands at once for ${minutes} minutes, seed ${seed}${keeper ? ', keepers are killed too' : ''}`,
  )
  const report = await soak({
    minutes: Number(minutes),
    seed: Number(seed),
    commands: Number(commands),
    keeper,
    say,
  })
  for (const problem of report.problems.slice(0, MAX_PROBLEMS)) say(`  ${problem}`)
  const counts = [
    `${report.ended} commands`,
    `${report.daemonsKilled} daemons killed, amid ${report.spawnsCut} spawns`,
    ...(keeper
      ? [`${report.keepersKilled} keepers killed`, `${report.abandoned} commands abandoned with evidence`]
      : []),
  ].join(', ')
  if (report.problems.length === 0) {
    const rest = keeper
      ? 'what could live on lost no line, nothing was made up'
      : 'every line once and in order, every exit code right'
    say(`The soak held: ${counts}; ${rest}; nothing is left behind. Seed ${seed}.`)
  } else {
    say(`The soak FAILED: ${report.problems.length} problems; ${counts}. Seed ${seed}.`)
    process.exitCode = 1
  }
}

/** Returns the exit code. */
async function fullDisk(): Promise<number> {
  if (!canMount) {
    say('The soak was not run: it needs the right to mount a small disk.')
    return 2
  }
  say(`${commands} commands at once on a small disk for ${minutes} minutes, seed ${seed}`)
  const found = await fullDiskSoak({
    minutes: Number(minutes),
    seed: Number(seed),
    commands: Number(commands),
    say,
  })
  for (const problem of found.problems.slice(0, MAX_PROBLEMS)) say(`  ${problem}`)
  const counted = [
    `${found.ended} commands, ${found.killed} killed (${found.unrecordedKills} unrecorded at first)`,
    `the disk filled ${found.fillings} times, trouble told ${found.troublesSeen} times, ${found.refusals} refusals`,
    `${found.daemonsKilled} daemons killed, ${found.startsOnFullDisk} started on the full disk`,
  ].join('; ')
  if (found.problems.length === 0) {
    say(`The soak held: ${counted}; no line and no end was lost. Seed ${seed}.`)
    return 0
  }
  say(`The soak FAILED: ${found.problems.length} problems; ${counted}. Seed ${seed}.`)
  return 1
}
