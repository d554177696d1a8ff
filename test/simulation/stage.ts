import { Counts } from './counts.ts'
import type { Random } from './random.ts'
import { type Doer, Schedule } from './schedule.ts'
import { Trace } from './trace.ts'

export interface Violation {
  /** The law that was broken. */
  readonly law: string
  readonly what: string
  readonly step: number
}

/** The probabilities and times of a world. Each seed draws its own, so that rare things are common in some worlds. */
export interface WorldSettings {
  /** The chance of a fault at each write boundary. */
  readonly faultChance: number
  readonly askDelayChance: number
  readonly acknowledgementDelayChance: number
  readonly nudgeLossChance: number
  /** The answer of `prove` about a holder: the truth, nothing, or either at random. */
  readonly proofs: 'known' | 'unknown' | 'mixed'
  /** How long a holder's row is valid, in milliseconds: the shorter, the more often leases change hands. */
  readonly ttlMs: number
  /** The weight of letting time pass while tasks can run. */
  readonly haste: number
  /** By the name of an operation or an upset: the factor of its usual weight. */
  readonly weights: Map<string, number>
}

/** The shared parts of a world: randomness, time, the trace, and the violations. */
export class Stage implements Doer {
  readonly name = 'world'
  readonly awake = true
  readonly random: Random
  readonly settings: WorldSettings
  readonly trace = new Trace()
  readonly schedule = new Schedule()
  readonly counts = new Counts()
  readonly violations: Violation[] = []
  step = 0
  /** Off when the world comes to rest. */
  faulty = true
  /** While it is set, no peer can write. */
  diskTrouble: 'full' | 'io' | undefined

  constructor(random: Random) {
    this.random = random
    this.settings = drawSettings(random)
  }

  get now(): number {
    return this.schedule.now
  }

  say(who: string, what: string): void {
    this.trace.add(`${this.step} +${this.now - 1_700_000_000_000} ${who} ${what}`)
  }

  /** Recorded, not thrown: it may be found during a commit, and must not look like a failing disk. */
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

function drawSettings(random: Random): WorldSettings {
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
