import { parseArgs } from 'node:util'
import { agentPlants } from './agents/plants.ts'
import { authorityPlants } from './authority/plants.ts'
import { Counts } from './counts.ts'
import { definitionPlants } from './definitions/plants.ts'
import { simulateMemory } from './memory/simulate-memory.ts'
import type { Plant } from './plant.ts'
import { plants } from './plants.ts'
import { DEFAULT_STEPS, type SeedReport, simulate } from './run.ts'
import { treePlants } from './trees/plants.ts'
import { WORLD_KINDS } from './world-kind.ts'

const USAGE =
  'npm run simulate -- --seeds N [--from F] [--seed K] [--only KIND] [--steps M] [--json] [--plants] [--memory]'
const LAST_LINES = 20

const HELP = `${USAGE}

Runs the real kernel over real SQLite files with simulated time, crashes, failing disks, lost nudges and clocks that
jump, and checks the laws after every step. Each seed makes several worlds: one without rules and agents; one with rules,
approvals and delegations, whose rulings are compared with a model of their own; one with agents, whose sessions are; one with
schedules and triggers, whose occurrences are; and one with agents below agents, whose paths and reports are.

  --seeds N   so many seeds (100)
  --from F    beginning at this one (1)
  --seed K    this seed alone, with its whole trace: the same seed is the same run, byte for byte
  --only KIND worlds of one kind: ${WORLD_KINDS.join(', ')}
  --steps M   steps per seed before faults end and the world comes to rest (${DEFAULT_STEPS})
  --json      the counts as one JSON object
  --memory    random acts on objects on three stores, compared with a reference
  --plants    the first of these seeds that finds each planted bug, for "since" in plants.ts

In the table, requests that were neither done, refused nor in trouble were lost with their kernel.`

const values = parsed()
if (values.help) {
  console.log(HELP)
  process.exit(0)
}
const steps = whole(values.steps, DEFAULT_STEPS)
const only = values.seed === undefined ? undefined : whole(values.seed, 0)
const kinds = WORLD_KINDS.filter((kind) => values.only === undefined || kind === values.only)
if (kinds.length === 0) {
  console.error(`${values.only} is no kind of world: ${WORLD_KINDS.join(', ')}. ${USAGE}`)
  process.exit(2)
}
const seeds = only === undefined ? whole(values.seeds, 100) : 1
const first = only ?? whole(values.from, 1)

if (values.memory) process.exit((await simulateMemory(first, seeds)) ? 0 : 1)

if (values.plants) {
  for (const plant of [
    ...plants,
    ...authorityPlants,
    ...agentPlants,
    ...definitionPlants,
    ...treePlants,
  ].filter(({ kind = 'plain' }) => kinds.includes(kind)))
    console.log(`${await firstToFind(plant)}  ${plant.name}`)
  process.exit(0)
}

const counts = new Counts()
let stepsDone = 0
const begun = performance.now()
let shown = begun

let seed = first
// An uncaught error is a defect of the kernel or of the simulator, and fails the run.
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error: unknown) => {
    console.log(`\nseed ${seed} threw an uncaught error\n`, error)
    console.log(`\nreplay it: ${replayOf(seed)}`)
    process.exit(1)
  })

for (; seed < first + seeds; seed++) {
  for (const kind of kinds) {
    const report = await simulate(seed, { steps, kind })
    counts.add(report.counts)
    stepsDone += report.steps
    if (only !== undefined && !values.json) for (const line of report.trace) console.log(line)
    if (report.violations.length > 0) {
      tellOf(report)
      process.exit(1)
    }
    if (only !== undefined && !values.json) console.log(`trace ${report.hash}`)
  }
  progress(seed - first + 1)
}
if (values.json) console.log(JSON.stringify(summary()))
else {
  table()
  console.log(`${seeds} seeds, ${stepsDone} steps, 0 violations`)
}

async function firstToFind(plant: Plant): Promise<number | undefined> {
  for (let tried = first; tried < first + seeds; tried++) {
    const { violations } = await simulate(tried, { plant, steps, often: plant.often ?? [] })
    if (violations.some(({ law }) => plant.laws.includes(law))) return tried
  }
  return undefined
}

function tellOf({ seed: broken, violations, trace, steps: done }: SeedReport): void {
  if (values.json) {
    console.log(JSON.stringify({ ...summary(), seed: broken, violations, trace: trace.slice(-LAST_LINES) }))
    return
  }
  console.log(`\nseed ${broken} broke a law at step ${violations[0]?.step ?? done}`)
  for (const { law, what } of violations.slice(0, 10)) console.log(`  ${law}: ${what}`)
  if (only === undefined) {
    console.log(`\nthe last ${LAST_LINES} lines of its trace:`)
    for (const line of trace.slice(-LAST_LINES)) console.log(`  ${line}`)
  }
  console.log(`\nreplay it: ${replayOf(broken)}`)
}

function replayOf(of: number): string {
  return `npm run simulate -- --seed ${of}${values.only === undefined ? '' : ` --only ${values.only}`}${steps === DEFAULT_STEPS ? '' : ` --steps ${steps}`}`
}

function progress(done: number): void {
  if (values.json || performance.now() - shown < 2_000) return
  shown = performance.now()
  const each = (shown - begun) / done
  console.error(`${done} of ${seeds} seeds, ${stepsDone} steps, ${Math.round(each)} ms each`)
}

function summary() {
  return {
    seeds,
    steps: stepsDone,
    violations: 0,
    operations: Object.fromEntries(counts.operations),
    faults: Object.fromEntries(counts.faults),
    events: Object.fromEntries(counts.events),
  }
}

function table(): void {
  const row = (name: string, ...cells: (string | number)[]) =>
    console.log(name.padEnd(28) + cells.map((cell) => String(cell).padStart(10)).join(''))
  row('operation', 'asked', 'done', 'refused', 'trouble')
  for (const [name, { asked, done, refused, trouble }] of sorted(counts.operations))
    row(name, asked, done, refused, trouble)
  console.log('')
  row('fault', 'times')
  for (const [name, times] of sorted(counts.faults)) row(name, times)
  console.log('')
  row('event', 'times')
  for (const [type, times] of sorted(counts.events)) row(type, times)
  console.log('')
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => a.localeCompare(b))
}

function whole(text: string | undefined, otherwise: number): number {
  const number = text === undefined ? otherwise : Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  console.error(`${text} is not a whole number. ${USAGE}`)
  process.exit(2)
}

function parsed() {
  try {
    const options = {
      seeds: { type: 'string' },
      from: { type: 'string' },
      seed: { type: 'string' },
      only: { type: 'string' },
      steps: { type: 'string' },
      json: { type: 'boolean', default: false },
      plants: { type: 'boolean', default: false },
      memory: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    } as const
    return parseArgs({ options }).values
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`)
    process.exit(2)
  }
}
