import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { endTree, TreeEnd } from '../../../src/keeper/tree/end-tree.ts'
import { statOf } from '../../../src/os/stat.ts'
import { NEEDS_ROOT, testIf } from '../../reporting/test-if.ts'
import {
  HOPPING,
  lives,
  MAX_HOPS,
  STUBBORN,
  STUBBORN_TREE,
  TestProgram,
  until,
  withMarker,
} from './program.ts'

const POLITE = 'echo $$ >> "$PIDS"; exec sleep 300'
const DEAF = 'trap \'\' TERM INT HUP; echo $$ >> "$PIDS"; while :; do sleep 300; done'

/** Longer than any test: who waits for it has failed. */
const NEVER_MS = 600_000

test('a tree that hears ends by being asked', async () => {
  using started = new TestProgram(
    'sh -c \'echo $$ >> "$PIDS"; exec sleep 300\' & echo $$ >> "$PIDS"; exec sleep 300',
  )
  const osPids = await started.whenThereAre(2)
  const told: boolean[] = []
  const answer = await endTree(started, {
    signal: 'SIGTERM',
    graceMs: NEVER_MS,
    onSignalled: () => told.push(lives(started.program.osPid)),
  })
  expect(answer).toEqual({ how: 'asked' })
  expect(osPids.filter(lives)).toEqual([])
  expect(told).toEqual([true])
  expect(await started.exited).toEqual({ code: null, signal: 'SIGTERM' })
})

test('a program that ends because its child was ended has been signalled', async () => {
  using started = new TestProgram('sh -c \'echo $$ >> "$PIDS"; exec sleep 300\' & wait; exit 0')
  await started.whenThereAre(1)
  const told: string[] = []
  const onSignalled = () => told.push('told')
  const end = endTree(started, { signal: 'SIGTERM', graceMs: NEVER_MS, onSignalled })
  expect(await end).toEqual({ how: 'asked' })
  expect(told).toEqual(['told'])
})

test('the signal is the one that was asked for, and the exit code the program chose', async () => {
  using started = new TestProgram('trap \'exit 7\' INT; echo $$ >> "$PIDS"; while :; do sleep 0.01; done')
  await started.whenThereAre(1)
  expect(await endTree(started, { signal: 'SIGINT', graceMs: NEVER_MS })).toEqual({ how: 'asked' })
  expect(await started.exited).toEqual({ code: 7, signal: null })
})

test('children are asked before their parents', async () => {
  using started = new TestProgram(
    `echo $$ >> "$PIDS"
    sh -c 'echo $$ >> "$PIDS"; sh -c "echo \\$\\$ >> \\$PIDS; exec sleep 300" & exec sleep 300' & exec sleep 300`,
  )
  const osPids = await started.whenThereAre(3)
  const heard: number[] = []
  const kill = process.kill.bind(process)
  process.kill = (osPid, signal) => {
    if (signal === 'SIGTERM') heard.push(osPid)
    return kill(osPid, signal)
  }
  try {
    expect(await endTree(started, { signal: 'SIGTERM', graceMs: NEVER_MS })).toEqual({ how: 'asked' })
  } finally {
    process.kill = kill
  }
  expect(heard).toEqual(osPids.toReversed())
})

test('by the marker alone a tree that hears nothing leaves no survivor, wherever its processes went', async () => {
  using started = new TestProgram(STUBBORN_TREE)
  const osPids = await started.whenThereAre(STUBBORN)
  expect(await endTree(started, { signal: 'SIGTERM', graceMs: 50 })).toEqual({ how: 'forced' })
  expect(osPids.filter(lives)).toEqual([])
  expect(withMarker(started.marker)).toEqual([])
  expect(await started.exited).toEqual({ code: null, signal: 'SIGKILL' })
})

test('a process without the marker is ended if it stayed in the session', async () => {
  using started = new TestProgram(
    `trap '' TERM; echo $$ >> "$PIDS"; env -i PIDS="$PIDS" sh -c '(echo 1; exec sleep 300) & echo $! >> "$PIDS"' ; sleep 300`,
  )
  const osPids = await started.whenThereAre(2)
  expect(await endTree(started, { signal: 'SIGTERM', graceMs: 50 })).toEqual({ how: 'forced' })
  expect(osPids.filter(lives)).toEqual([])
})

test('one that goes from process to process is caught', async () => {
  using hopping = new TestProgram(HOPPING)
  await until('it hops', () => (hopping.read('hops') ?? '').length > 20)
  // SIGWINCH ends no process.
  expect(await endTree(hopping, { signal: 'SIGWINCH', graceMs: 20 })).toEqual({ how: 'forced' })
  const hops = hopping.read('hops')!.length
  expect(hops).toBeLessThan(MAX_HOPS)
  expect(withMarker(hopping.marker)).toEqual([])
  expect(hopping.read('hops')).toHaveLength(hops)
})

test('a tree that grows while it is forced leaves no survivor', async () => {
  using growing = new TestProgram(`
    trap '' TERM
    i=0
    while [ $i -lt 1000 ]; do i=$((i + 1)); echo $i > born; setsid sh -c 'sleep 300; :' & sleep 0.002; done
    wait`)
  await until('it grows', () => Number(growing.read('born') ?? 0) > 10)
  expect(await endTree(growing, { signal: 'SIGKILL', graceMs: 0 })).toEqual({ how: 'forced' })
  expect(withMarker(growing.marker)).toEqual([])
  expect(Number(growing.read('born'))).toBeLessThan(1000)
})

test('a stopped tree hears, and ends by being asked', async () => {
  using started = new TestProgram('trap \'exit 3\' TERM; echo $$ >> "$PIDS"; while :; do sleep 0.01; done')
  const [osPid] = await started.whenThereAre(1)
  process.kill(osPid!, 'SIGSTOP')
  await until('it is stopped', () => statOf(osPid!)?.state === 'T')
  expect(await endTree(started, { signal: 'SIGTERM', graceMs: NEVER_MS })).toEqual({ how: 'asked' })
  expect(await started.exited).toEqual({ code: 3, signal: null })
})

test('without a grace nothing is forced, until that is asked for', async () => {
  using started = new TestProgram(DEAF)
  const [osPid] = await started.whenThereAre(1)
  const end = new TreeEnd(started, { signal: 'SIGTERM', graceMs: 0 })
  let isDone = false
  void end.done.then(() => {
    isDone = true
  })
  // It is asked again and again whether it has ended; each look is one that might have forced it.
  for (let looks = 0; looks < 50; looks++) {
    end.nudge()
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  expect(isDone).toBe(false)
  expect(lives(osPid!)).toBe(true)
  end.strengthen('SIGTERM', 1)
  expect(await end.done).toEqual({ how: 'forced' })
  expect(lives(osPid!)).toBe(false)
})

test('a stronger signal is sent when it is asked for, and a weaker one is not', async () => {
  using started = new TestProgram(
    "trap 'echo term >> heard' TERM; trap 'echo int >> heard' INT; trap 'echo quit >> heard; exit 4' QUIT\n" +
      'echo $$ >> "$PIDS"; while :; do sleep 0.01; done',
  )
  await started.whenThereAre(1)
  const end = new TreeEnd(started, { signal: 'SIGTERM', graceMs: NEVER_MS })
  await until('it has heard', () => started.read('heard') === 'term\n')
  end.strengthen('SIGINT', 0)
  end.strengthen('SIGTERM', 0)
  end.strengthen('SIGQUIT', 0)
  expect(await end.done).toEqual({ how: 'asked' })
  expect(started.read('heard')).toBe('term\nquit\n')
  expect(await started.exited).toEqual({ code: 4, signal: null })
})

test('SIGKILL in the middle of a long grace forces at once', async () => {
  using started = new TestProgram(DEAF)
  const [osPid] = await started.whenThereAre(1)
  const end = new TreeEnd(started, { signal: 'SIGTERM', graceMs: NEVER_MS })
  end.strengthen('SIGKILL', 0)
  expect(await end.done).toEqual({ how: 'forced' })
  expect(lives(osPid!)).toBe(false)
})

test('a clean-up process that the program starts gets its time', async () => {
  using started = new TestProgram(
    'trap \'sh -c "sleep 0.1; echo tidied > done"; exit 5\' TERM; echo $$ >> "$PIDS"; while :; do sleep 0.01; done',
  )
  await started.whenThereAre(1)
  expect(await endTree(started, { signal: 'SIGTERM', graceMs: NEVER_MS })).toEqual({ how: 'asked' })
  expect(started.read('done')).toBe('tidied\n')
  expect(await started.exited).toEqual({ code: 5, signal: null })
})

test('a descendant that outlives its program is asked, too', async () => {
  using started = new TestProgram(
    'setsid sh -c \'trap "echo heard > heard; exit" TERM; echo $$ >> "$PIDS"; while :; do sleep 0.01; done\' & exit 0',
  )
  const [osPid] = await started.whenThereAre(1)
  expect(await started.exited).toEqual({ code: 0, signal: null })
  const told: string[] = []
  const onSignalled = () => told.push('told')
  expect(await endTree(started, { signal: 'SIGTERM', graceMs: NEVER_MS, onSignalled })).toEqual({
    how: 'asked',
  })
  expect(lives(osPid!)).toBe(false)
  expect(started.read('heard')).toBe('heard\n')
  expect(told).toEqual([])
})

test('nothing is signalled where all have gone', async () => {
  using started = new TestProgram('exit 0')
  await started.exited
  expect(await endTree(started, { signal: 'SIGTERM', graceMs: 10 })).toEqual({ how: 'already_gone' })
})

test('a zombie counts as gone', async () => {
  using started = new TestProgram('sh -c \'echo $$ >> "$PIDS"\' & exec sleep 300')
  const [osPid] = await started.whenThereAre(1)
  await until('it is a zombie', () => /\) Z /.test(readFileSync(`/proc/${osPid}/stat`, 'utf8')))
  const { state: _, ...zombie } = statOf(osPid!)!
  const program = { ...started.program, osPid: osPid!, startTime: zombie.startTime, group: osPid! }
  expect(await endTree({ program, marker: 'nobody@home' }, { signal: 'SIGKILL', graceMs: 0 })).toEqual({
    how: 'already_gone',
  })
  expect(lives(started.program.osPid)).toBe(true)
})

test.each([
  ['another start time', { startTime: '1' }],
  ['no start time', { startTime: null }],
])('with %s on record the one who has the PID is not signalled', async (_, recorded) => {
  using stranger = new TestProgram(POLITE)
  const [osPid] = await stranger.whenThereAre(1)
  const told: string[] = []
  for (const marker of ['another@home', stranger.marker]) {
    const program = { ...stranger.program, ...recorded }
    const how = { signal: 'SIGKILL', graceMs: 1, onSignalled: () => told.push('told') }
    expect(await endTree({ program, marker }, how)).toEqual({ how: 'not_ours' })
  }
  expect(lives(osPid!)).toBe(true)
  expect(told).toEqual([])
})

test('a program of another boot is gone, and the process with its PID is not signalled', async () => {
  using stranger = new TestProgram(POLITE)
  const [osPid] = await stranger.whenThereAre(1)
  const program = { ...stranger.program, boot: 'another' }
  expect(await endTree({ program, marker: stranger.marker }, { signal: 'SIGKILL', graceMs: 1 })).toEqual({
    how: 'already_gone',
  })
  expect(lives(osPid!)).toBe(true)
})

test('where a stranger has the PID of the program, its descendants are ended, and the stranger is not', async () => {
  using left = new TestProgram('setsid sh -c \'echo $$ >> "$PIDS"; exec sleep 300\' & exit 0')
  const [leftBehind] = await left.whenThereAre(1)
  await left.exited
  using stranger = new TestProgram(POLITE)
  const [osPid] = await stranger.whenThereAre(1)
  const startTime = String(Number(left.program.startTime) - 1)
  const program = { ...left.program, osPid: osPid!, group: osPid!, startTime }
  expect(await endTree({ program, marker: left.marker }, { signal: 'SIGTERM', graceMs: NEVER_MS })).toEqual({
    how: 'asked',
  })
  expect(lives(leftBehind!)).toBe(false)
  expect(lives(osPid!)).toBe(true)
})

testIf(process.getuid?.() === 0, NEEDS_ROOT)('who may not be signalled is named as a survivor', async () => {
  using started = new TestProgram(POLITE)
  const [osPid] = await started.whenThereAre(1)
  expect(endAsNobody(started)).toEqual({
    how: 'survived',
    survivors: [{ osPid, name: 'sleep' }],
  })
  expect(lives(osPid!)).toBe(true)
})

testIf(process.getuid?.() === 0, NEEDS_ROOT)(
  'a tree whose processes come and go is looked for longer than one whose processes stay',
  async () => {
    // There are always as many, and not the same ones for long.
    const script = `for i in 1 2 3 4; do sh -c 'echo $$ >> "$PIDS"; exec sleep 1'; done`
    using changing = new TestProgram(script)
    await changing.whenThereAre(1)
    expect(endAsNobody(changing)).toEqual({ how: 'already_gone' })
    expect(changing.osPids).toHaveLength(4)
  },
)

test('a program that ends while it is being ended is gone in every answer', async () => {
  for (let round = 0; round < 30; round++) {
    using started = new TestProgram(`sleep 0.0${round % 10} & wait; exit 0`)
    const signalled: string[] = []
    const end = new TreeEnd(started, {
      signal: 'SIGTERM',
      graceMs: NEVER_MS,
      onSignalled: () => signalled.push('it'),
    })
    void started.exited.then(end.nudge)
    const { how } = await end.done
    expect(how === 'asked' || how === 'already_gone').toBe(true)
    expect(lives(started.program.osPid)).toBe(false)
    expect(withMarker(started.marker)).toEqual([])
    if (signalled.length === 0) expect(await started.exited).toEqual({ code: 0, signal: null })
  }
})

test('many ends at once come to an end, each with its own answer', async () => {
  const programs = Array.from({ length: 20 }, (_, n) => new TestProgram(n % 2 === 0 ? POLITE : DEAF))
  try {
    await Promise.all(programs.map((started) => started.whenThereAre(1)))
    const answers = await Promise.all(
      programs.map((started, n) =>
        endTree(started, { signal: 'SIGTERM', graceMs: n % 2 === 0 ? NEVER_MS : 1_000 }),
      ),
    )
    expect(answers.map(({ how }) => how)).toEqual(programs.map((_, n) => (n % 2 === 0 ? 'asked' : 'forced')))
    for (const started of programs) expect(started.osPids.filter(lives)).toEqual([])
  } finally {
    for (const started of programs) started[Symbol.dispose]()
  }
})

/** Ends a program in another OS process, as a user who may not signal it. */
function endAsNobody({ program, marker }: TestProgram): unknown {
  const fixture = fileURLToPath(new URL('fixtures/end-it.ts', import.meta.url))
  const nobody = { uid: 65_534, gid: 65_534, encoding: 'utf8' } as const
  return JSON.parse(execFileSync(process.execPath, [fixture, JSON.stringify({ program, marker })], nobody))
}
