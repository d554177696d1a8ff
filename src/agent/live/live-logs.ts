import type { Pid } from '../../core/process/pid.ts'
import type { Fragment } from '../../model/model.ts'

/** The live logs of agents: the output of models while it streams, for people who watch. The entries repeat all of it. */
export interface LiveLogs {
  open(pid: Pid): LiveLog
}

/** The live log of one agent, while its executor writes to it. */
export interface LiveLog {
  /** The offset of the next byte. */
  readonly end: number
  /** Never throws: a fragment that cannot be written becomes a gap. */
  append(fragment: Fragment): void
  /** All appended bytes can be read. */
  flushed(): Promise<void>
  close(): void
}

/** For a kernel without a data folder: nothing is kept, and offsets stay 0. */
export const NO_LIVE_LOGS: LiveLogs = {
  open: () => ({ end: 0, append: () => undefined, flushed: async () => undefined, close: () => undefined }),
}
