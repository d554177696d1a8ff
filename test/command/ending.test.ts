import { describe, expect, test } from 'vitest'
import { endingOf } from '../../src/command/ending.ts'
import type { Exit, ProgramIdentity } from '../../src/keeper/protocol/program-state.ts'

const program: ProgramIdentity = {
  osPid: 4,
  startTime: '9',
  boot: 'b',
  group: 4,
  tree: 'marker',
  cgroup: null,
  memoryBy: null,
}
const EXIT: Exit = {
  exitCode: 0,
  signal: null,
  at: 1,
  outputEnd: 5,
  because: null,
  usage: null,
  leftBehind: null,
}

function ending(exit: Partial<Exit>, stop?: { how: 'interrupt' | 'cancel' | 'kill'; reason: string }) {
  return endingOf({ state: 'exited', pid: 'p_x', program, exit: { ...EXIT, ...exit } }, stop)
}

describe('the ending of a process, from the end of its program', () => {
  test('an exit without a stop request keeps its code, even if a request comes a moment later', () => {
    expect(ending({})).toMatchObject({ status: 'completed', exitCode: 0 })
    expect(ending({ exitCode: 7 })).toMatchObject({ status: 'failed', exitCode: 7 })
    expect(ending({ exitCode: 7 }, { how: 'kill', reason: 'late' })).toMatchObject({
      status: 'failed',
      exitCode: 7,
    })
    expect(ending({ exitCode: null, signal: 'SIGSEGV' })).toMatchObject({
      status: 'failed',
      signal: 'SIGSEGV',
    })
  })

  test.each([
    [{ how: 'kill', reason: 'x' }, 'killed'],
    [{ how: 'interrupt', reason: 'x' }, 'interrupted'],
    [{ how: 'cancel', reason: 'x' }, 'cancelled'],
    [{ how: 'cancel', reason: 'lifetime: session s1 has ended' }, 'lifetime'],
  ] as const)('asked by %o it is cancelled, with the real signal, because it was %s', (stop, reason) => {
    const asked = ending({ exitCode: null, signal: 'SIGTERM', because: 'asked' }, stop)
    expect(asked).toMatchObject({ status: 'cancelled', signal: 'SIGTERM', exitCode: null, reason })
  })

  test.each([
    ['timeout', 'failed', 'timeout'],
    ['idle', 'failed', 'idle'],
    ['limit:memory', 'cancelled', 'limit:memoryBytes'],
    ['limit:cpu', 'cancelled', 'limit:cpuSeconds'],
    ['limit:output', 'cancelled', 'limit:outputBytes'],
  ] as const)('ended because of %s it is %s, and the reason is %s', (because, status, reason) => {
    const limited = ending({ exitCode: null, signal: 'SIGKILL', because })
    expect(limited).toMatchObject({ status, reason, signal: 'SIGKILL' })
  })

  test('a failed start has a reason and a remedy', () => {
    const failed = {
      state: 'failed_start',
      pid: 'p_x',
      message: 'no such folder',
      remedy: 'make it',
    } as const
    expect(endingOf(failed, undefined)).toEqual({
      status: 'failed',
      reason: 'failed_start',
      result: { message: 'no such folder', remedy: 'make it' },
    })
  })

  test('a lost program has no exit code', () => {
    const lost = { state: 'lost', pid: 'p_x', program, evidence: 'keeper_lost', outputEnd: 3 } as const
    expect(endingOf(lost, { how: 'kill', reason: 'x' })).toEqual({
      status: 'abandoned',
      evidence: 'keeper_lost',
    })
  })

  test('it has the size of the output, the usage, and the number of descendants left behind', () => {
    const usage = { cpuMs: 3, peakMemoryBytes: null, readBytes: null, writtenBytes: null, sampled: false }
    expect(ending({ usage, leftBehind: 2 })).toMatchObject({
      result: { outputBytes: 5, usage, leftBehind: 2 },
    })
    expect(ending({ leftBehind: 0 })).toMatchObject({ result: { outputBytes: 5 } })
  })
})
