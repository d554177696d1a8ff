import { isSize } from '../program/check-spawn-plan.ts'
import type { Program } from '../program/program.ts'
import { isSignal } from '../program/signal-names.ts'
import type { Programs } from '../programs.ts'
import type { AskName, Asks, KeeperRefusal } from '../protocol/messages.ts'
import { faultOfSpawnPlan } from './spawn-plan-shape.ts'

/** A request that is answered with an error. */
export class Refused extends Error {
  readonly refusal: KeeperRefusal

  constructor(refusal: KeeperRefusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

export function badAsk(message: string): Refused {
  return new Refused({ code: 'bad_ask', message })
}

type About = Exclude<AskName, 'hello' | 'leave'>
type Answers = { [Name in About]: (ask: Asks[Name][0]) => Asks[Name][1] | Promise<Asks[Name][1]> }

/** Answers each request about programs. */
export function answersOf(programs: Programs, recover: () => Promise<void>): Answers {
  const present = (pid: string): Program => {
    const program = programs.get(checkedPid(pid))
    if (program !== undefined) return program
    if (programs.stateOf(pid) === null) throw unknownPid(pid)
    throw new Refused({ code: 'failed', message: `${pid} could not be taken over yet. It is tried again.` })
  }
  const settledOr = <Answer>(pid: string, ended: Answer, act: (program: Program) => Answer): Answer =>
    programs.get(checkedPid(pid)) === undefined && programs.isSettled(pid) ? ended : act(present(pid))

  return {
    spawn: ({ pid, fence, plan, fifos = [] }) => {
      const fault = faultOfSpawnPlan(plan)
      if (fault !== undefined) throw badAsk(fault)
      return programs.spawn(checkedPid(pid), fence, plan, fifos)
    },
    state: ({ pid }) => programs.stateOf(checkedPid(pid)),
    end: async (ask) => {
      const { pid, signal, graceMs } = ask
      checkedPid(pid)
      checkSignal(signal)
      if (!Number.isFinite(graceMs) || graceMs < 0) throw badAsk(`graceMs is ${graceMs}`)
      const answer = await programs.end(ask)
      if (answer === null) throw unknownPid(pid)
      return answer
    },
    leftovers: () => ({ pids: programs.leftovers() }),
    signal: ({ pid, signal, to }) => {
      checkSignal(signal)
      return settledOr<Asks['signal'][1]>(pid, { sent: 'ended' }, (program) => ({
        sent: program.tree.signal(signal, to),
      }))
    },
    pause: ({ pid }) => settledOr(pid, { stopped: 0 }, (program) => ({ stopped: program.pause() })),
    resume: ({ pid }) => settledOr(pid, { continued: 0 }, (program) => ({ continued: program.resume() })),
    write: ({ pid, seq, data }) =>
      settledOr<Asks['write'][1]>(pid, { type: 'ended' }, (program) =>
        program.input.write(seq, Buffer.from(data, 'base64')),
      ),
    closeInput: ({ pid }) =>
      settledOr<Asks['closeInput'][1]>(pid, { type: 'ended' }, (program) => ({
        type: program.input.close(),
      })),
    resize: ({ pid, cols, rows }) => {
      if (!isSize(cols, rows)) throw badAsk(`A terminal can't be ${cols} × ${rows} characters large.`)
      return settledOr<Asks['resize'][1]>(pid, { type: 'ended' }, (program) => ({
        type: program.input.resize(cols, rows),
      }))
    },
    limits: ({ pid, cpuSeconds, outputBytes }) => {
      if (![cpuSeconds, outputBytes].every(isLimit))
        throw badAsk(`cpuSeconds is ${cpuSeconds} and outputBytes ${outputBytes}`)
      return settledOr<Asks['limits'][1]>(pid, { type: 'ended' }, (program) => ({
        type: program.limit({ cpuSeconds, outputBytes }),
      }))
    },
    follow: ({ pid, on }) => {
      const program = programs.get(checkedPid(pid))
      if (program === undefined) return { end: settledEnd(programs, pid) }
      program.follow(on)
      return { end: program.outputEnd }
    },
    usage: ({ pids }) => ({ usages: programs.usages(pids) }),
    recover: async () => {
      await recover()
      return { programs: programs.states() }
    },
    acknowledge: ({ pid }) => {
      if (programs.stateOf(checkedPid(pid))?.state === 'running')
        throw badAsk(`${pid} is running: there is nothing to acknowledge yet.`)
      programs.acknowledge(pid)
      return {}
    },
  }
}

function settledEnd(programs: Programs, pid: string): number {
  const state = programs.stateOf(pid)
  if (state === null) throw unknownPid(pid)
  if (state.state === 'exited') return state.exit.outputEnd
  return state.state === 'lost' ? state.outputEnd : 0
}

function unknownPid(pid: string): Refused {
  return new Refused({ code: 'unknown_pid', message: `Nothing is known here of ${pid}.` })
}

/** A pid becomes part of file names. */
function checkedPid(pid: unknown): string {
  if (typeof pid === 'string' && /^[A-Za-z0-9_-]{1,128}$/.test(pid)) return pid
  throw badAsk(`${JSON.stringify(pid)} is no pid`)
}

/** 0 is valid: all of the allowance may have been given away. */
function isLimit(value: unknown): boolean {
  return value === null || (typeof value === 'number' && Number.isFinite(value) && value >= 0)
}

function checkSignal(signal: string): void {
  if (!isSignal(signal)) throw badAsk(`There is no signal ${signal}.`)
}
