import type { ProgramIdentity } from '../protocol/messages.ts'
import { type Member, markersSince, membersOf } from './members.ts'
import { nextTable } from './proc-table.ts'

/** Looks that found nobody prove it: two that were whole, or, where births never cease, so many that were not. */
const WHOLE_LOOKS = 2
const EMPTY_LOOKS = 20

/** A tree that is looked at again and again: who was found once stays known for as long as it lives. */
export class TreeLook {
  readonly #program: ProgramIdentity
  readonly #marker: string
  #members: readonly Member[] = []

  constructor(program: ProgramIdentity, marker: string) {
    this.#program = program
    this.#marker = marker
  }

  /** Who lived at the last look; children before parents. */
  get members(): readonly Member[] {
    return this.#members
  }

  /** Answers whether nobody can have been overlooked. */
  async again(): Promise<boolean> {
    const table = await nextTable(markersSince(this.#program))
    this.#members = membersOf(this.#program, this.#marker, { known: this.#members, table })
    return table.isWhole
  }

  /** Whether several looks, one after the other, find nobody. */
  async isGone(): Promise<boolean> {
    let wholeLooks = 0
    for (let look = 0; look < EMPTY_LOOKS && wholeLooks < WHOLE_LOOKS; look++) {
      if (await this.again()) wholeLooks++
      if (this.#members.length > 0) return false
    }
    return true
  }

  /** Whether whoever has the program's PID carries its marker, though its start time may say otherwise. */
  async isProgramMarked(): Promise<boolean> {
    return (await nextTable(0)).hasMarker(this.#program.osPid, this.#marker)
  }

  isProgram({ osPid }: Member): boolean {
    return osPid === this.#program.osPid
  }
}
