import { Counts } from './counts.ts'
import type { Random } from './random.ts'
import { type Doer, Schedule } from './schedule.ts'
import { Trace } from './trace.ts'

export interface Violation {
  /** Which law was broken, in its own words. */
  readonly law: string
  readonly what: string
  readonly step: number
}

/** How this world behaves. Each seed draws its own, so that rare things are common in some worlds. */
export interface StageSettings {
  /** Of each write boundary: that something goes wrong there. */
  readonly faultChance: number
  readonly askDelayChance: number
  readonly acknowledgementDelayChance: number
  readonly nudgeLossChance: number
  /** What can be found out about a holder from outside: all, nothing, or now this, now that. */
  readonly proofs: 'known' | 'unknown' | 'mixed'
  /** How long a holder is believed in, in milliseconds: the shorter, the more often leases change hands. */
  readonly ttlMs: number
  /** How likely time goes on while there is something to do. */
  readonly haste: number
  /** By the name of an operation or an upset: how much likelier than usual. */
  readonly weights: Map<string, number>
}

/** What all parts of a world share: chance, time, the trace, and what has been found wrong. */
export class Stage implements Doer {
  readonly name = 'world'
  readonly awake = true
  readonly random: Random
  readonly settings: StageSettings
  readonly trace = new Trace()
  readonly schedule = new Schedule()
  readonly counts = new Counts()
  readonly violations: Violation[] = []
  step = 0
  /** Off once the world is to come to rest. */
  faulty = true
  /** While it is set, nothing can be written by anyone. */
  diskTrouble: 'full' | 'io' | undefined

  constructor(random: Random) {
    this.random = random
    this.settings = settingsFrom(random)
  }

  get now(): number {
    return this.schedule.now
  }

  say(who: string, what: string): void {
    this.trace.add(`${this.step} +${this.now - 1_700_000_000_000} ${who} ${what}`)
  }

  /** Noted, not thrown: it may be found in the midst of a commit, and must not pass for a failing disk. */
  violated(law: string, what: string): void {
    this.violations.push({ law, what, step: this.step })
    this.say('!!', `${law}: ${what}`)
  }

  weightOf(name: string, usual: number): number {
    const known = this.settings.weights.get(name)
    if (known !== undefined) return usual * known
    const drawn = this.random.pick([0, 0.3, 1, 1, 1, 3])
    this.settings.weights.set(name, drawn)
    return usual * drawn
  }
}

function settingsFrom(random: Random): StageSettings {
  return {
    faultChance: random.pick([0, 0.001, 0.004, 0.01, 0.03]),
    askDelayChance: random.pick([0, 0.2, 0.5]),
    acknowledgementDelayChance: random.pick([0, 0, 0.1, 0.3]),
    nudgeLossChance: random.pick([0, 0.3, 1]),
    proofs: random.pick(['known', 'unknown', 'mixed', 'mixed']),
    ttlMs: random.pick([6_000, 30_000]),
    haste: random.pick([0.3, 1, 3]),
    weights: new Map(),
  }
}
