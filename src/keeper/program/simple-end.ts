import type { EndAnswer, ProgramIdentity } from '../protocol/messages.ts'
import { signalExact, whoIs } from '../tree/identity.ts'
import { membersOf } from '../tree/members.ts'

/** Stand-in until tree/end-tree.ts is there. */
export class TreeEnd {
  readonly done: Promise<EndAnswer>
  #nudge: () => void = () => {}
  constructor(
    target: { program: ProgramIdentity; marker: string },
    how: { signal: string; graceMs: number; onSignalled?: () => void },
  ) {
    this.done = this.#run(target, how)
  }
  strengthen(_signal: string, _graceMs: number): void {}
  nudge(): void {
    this.#nudge()
  }
  async #run(
    { program, marker }: { program: ProgramIdentity; marker: string },
    how: { signal: string; graceMs: number; onSignalled?: () => void },
  ): Promise<EndAnswer> {
    const who = whoIs(program)
    if (who === 'stranger' || who === 'unreadable') return { how: 'not_ours' }
    const first = membersOf(program, marker)
    if (first.length === 0) return { how: 'already_gone' }
    const send = (signal: string) => {
      for (const m of membersOf(program, marker)) {
        if (m.osPid === program.osPid) how.onSignalled?.()
        signalExact(m.osPid, m.startTime, signal)
      }
    }
    send(how.signal)
    send('SIGCONT')
    const until = how.graceMs === 0 ? Infinity : Date.now() + how.graceMs
    while (Date.now() < until) {
      if (membersOf(program, marker).length === 0) return { how: 'asked' }
      await new Promise<void>((r) => {
        this.#nudge = r
        setTimeout(r, 20)
      })
    }
    send('SIGKILL')
    for (let i = 0; i < 50; i++) {
      if (membersOf(program, marker).length === 0) return { how: 'forced' }
      await new Promise<void>((r) => {
        this.#nudge = r
        setTimeout(r, 20)
      })
    }
    return {
      how: 'survived',
      survivors: membersOf(program, marker).map(({ osPid, name }) => ({ osPid, name })),
    }
  }
}
