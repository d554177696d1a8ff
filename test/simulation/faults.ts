import type { Stage } from './stage.ts'

type Fault = 'busy' | 'io' | 'full' | 'constraint' | 'die'
export type Boundary = 'begin' | 'answer' | 'apply' | 'applied' | 'commit' | 'committed'

/** The faults of SQLite, and deaths of the process, at each write boundary. */
const POSSIBLE: Readonly<Record<Boundary, readonly Fault[]>> = {
  begin: ['busy', 'busy', 'io', 'full', 'die'],
  answer: ['io', 'die'],
  apply: ['io', 'full', 'constraint', 'die'],
  applied: ['io', 'full', 'constraint', 'die'],
  commit: ['io', 'full', 'die'],
  // The commit has happened, and its acknowledgement is lost.
  committed: ['io', 'die'],
}

const CODES = { busy: 5, io: 10, full: 13, constraint: 19, die: 1 } as const

/** Injects a fault at random: throws what SQLite would throw, or returns. */
export function perhapsFail(stage: Stage, boundary: Boundary, who: string, die: () => void): void {
  if (!stage.faulty) return
  if (stage.diskTrouble !== undefined && (boundary === 'begin' || boundary === 'commit'))
    throw sqliteError(stage.diskTrouble)
  // A plan asks and changes several things, so those boundaries are more frequent than the others.
  const common = boundary === 'answer' || boundary === 'apply' || boundary === 'applied'
  if (!stage.random.chance(stage.settings.faultChance * (common ? 0.3 : 1))) return
  const fault = stage.random.pick(POSSIBLE[boundary])
  stage.counts.fault(`${fault} at ${boundary}`)
  stage.say(who, `fault: ${fault} at ${boundary}`)
  if (fault === 'die') die()
  throw sqliteError(fault)
}

export function sqliteError(fault: Fault): Error {
  return Object.assign(new Error(`simulated ${fault}`), { code: 'ERR_SQLITE_ERROR', errcode: CODES[fault] })
}
