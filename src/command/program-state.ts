import { messageOf } from '../base/error-text.ts'
import { ReeveError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Program } from '../core/process/record.ts'
import type { ProgramState } from '../keeper/protocol/program-state.ts'

/** The state of a program that has ended, or never began. */
export type Ended = Exclude<ProgramState, { state: 'running' }>

export function outputEndOf(ended: Ended): number {
  if (ended.state === 'failed_start') return 0
  return ended.state === 'exited' ? ended.exit.outputEnd : ended.outputEnd
}

export function failedStart(pid: Pid, error: unknown): Ended {
  const message = messageOf(error)
  const remedy = error instanceof ReeveError ? error.remedy : 'Look at what the command asks for.'
  return { state: 'failed_start', pid, message, remedy }
}

export function lost(pid: Pid): Ended {
  return { state: 'lost', pid, program: null, evidence: 'keeper_lost', outputEnd: 0 }
}

export function programOf({ program }: Extract<ProgramState, { state: 'running' }>): Program {
  const { osPid, startTime, boot, group, tree, memoryBy } = program
  return { osPid, startTime, boot, group, tree, memoryBy }
}
