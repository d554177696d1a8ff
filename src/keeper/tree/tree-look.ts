import type { ProgramIdentity } from '../protocol/program-state.ts'
import { type Member, markersSince, membersOf } from './members.ts'
import { nextTable } from './proc-table.ts'

/** Scans without a member that prove a tree empty: two complete ones, or this many incomplete ones while processes keep starting. */
const WHOLE_LOOKS = 2
const EMPTY_LOOKS = 20

/** A tree that is scanned again and again: a member that was found once stays known for as long as it lives. */
export class TreeLook {
  readonly #program: ProgramIdentity
  readonly #marker: string
  #members: readonly Member[] = []

  constructor(program: ProgramIdentity, marker: string) {
    this.#program = program
    this.#marker = marker
  }

  /** The members that lived at the last scan; children before parents. */
  get members(): readonly Member[] {
    return this.#members
  }

  /** True if no member can have been missed. */
  async again(): Promise<boolean> {
    const table = await nextTable(markersSince(this.#program))
    this.#members = membersOf(this.#program, this.#marker, { known: this.#members, table })
    return table.isWhole
  }

  /** Whether several scans in a row find no member. */
  async isGone(): Promise<boolean> {
    let wholeLooks = 0
    for (let look = 0; look < EMPTY_LOOKS && wholeLooks < WHOLE_LOOKS; look++) {
      if (await this.again()) wholeLooks++
      if (this.#members.length > 0) return false
    }
    return true
  }

  /** Whether the process with the program's PID carries its marker, although its start time may differ. */
  async isProgramMarked(): Promise<boolean> {
    return (await nextTable(0)).hasMarker(this.#program.osPid, this.#marker)
  }

  isProgram({ osPid }: Member): boolean {
    return osPid === this.#program.osPid
  }
}
