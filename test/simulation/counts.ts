export interface Tally {
  asked: number
  done: number
  refused: number
  trouble: number
}

/** How often each operation was asked for and how it went, and how often each fault occurred. */
export class Counts {
  readonly operations = new Map<string, Tally>()
  readonly faults = new Map<string, number>()
  readonly events = new Map<string, number>()

  operation(name: string): Tally {
    const known = this.operations.get(name)
    if (known !== undefined) return known
    const tally = { asked: 0, done: 0, refused: 0, trouble: 0 }
    this.operations.set(name, tally)
    return tally
  }

  fault(name: string): void {
    this.faults.set(name, (this.faults.get(name) ?? 0) + 1)
  }

  event(type: string): void {
    this.events.set(type, (this.events.get(type) ?? 0) + 1)
  }

  add(other: Counts): void {
    for (const [name, tally] of other.operations) {
      const mine = this.operation(name)
      mine.asked += tally.asked
      mine.done += tally.done
      mine.refused += tally.refused
      mine.trouble += tally.trouble
    }
    for (const [name, count] of other.faults) this.faults.set(name, (this.faults.get(name) ?? 0) + count)
    for (const [type, count] of other.events) this.events.set(type, (this.events.get(type) ?? 0) + count)
  }
}
