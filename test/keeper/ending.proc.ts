import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NEEDS_CGROUP } from '../reporting/test-if.ts'
import { keeperWithDaemon, startTimeOf, until } from './client.ts'

const limits = { memoryBytes: null, cpuSeconds: null, openFiles: null, outputBytes: null }

test('an end that was asked for is recorded before it is answered', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_end', 'exec sleep 300')
  expect(await daemon.ask('end', { pid: 'p_end', signal: 'SIGTERM', graceMs: 60_000 })).toEqual({
    how: 'asked',
  })
  expect(await daemon.ask('state', { pid: 'p_end' })).toMatchObject({
    state: 'exited',
    exit: { exitCode: null, signal: 'SIGTERM', because: 'asked' },
  })
  expect(await daemon.ask('end', { pid: 'p_end', signal: 'SIGTERM', graceMs: 60_000 })).toEqual({
    how: 'already_gone',
  })
})

test('a tree that ignores the signal is forced, including processes that left its group', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh(
    'p_deaf',
    `trap "" TERM; setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 0.05; done' & wait`,
  )
  const inner = Number(await until('it has begun', () => /^\d+$/m.exec(temp.output('p_deaf').text)?.[0]))
  expect(await daemon.ask('end', { pid: 'p_deaf', signal: 'SIGTERM', graceMs: 200 })).toEqual({
    how: 'forced',
  })
  expect(await daemon.exit('p_deaf')).toMatchObject({ signal: 'SIGKILL', because: 'asked' })
  expect(startTimeOf(inner)).toBe('')
})

for (const when of ['by the same keeper', 'by the next one'])
  test(`a process that left everything but the cgroup of an ended program can still be ended ${when}`, async (context) => {
    const { temp, daemon } = await keeperWithDaemon()
    await using _ = temp
    const file = join(temp.folder, 'escaped')

    const started = await daemon.sh(
      'p_left',
      `setsid env -i /bin/sh -c 'echo $$ > ${file}.new; /bin/mv ${file}.new ${file}; exec /bin/sleep 300' >/dev/null 2>&1 &
      while [ ! -e ${file} ]; do sleep 0.01; done`,
    )
    if (started.state !== 'running') throw new Error('not started')
    await daemon.exit('p_left')
    const escaped = Number(readFileSync(file, 'utf8'))
    try {
      if (started.program.tree === 'marker') return context.skip(NEEDS_CGROUP)
      await daemon.ask('acknowledge', { pid: 'p_left' })
      if (when === 'by the next one') {
        await temp.killKeeper()
        await temp.startKeeper()
      }
      const asker = when === 'by the next one' ? await temp.daemon() : daemon
      const { osPid, startTime, boot, group } = started.program
      const program = { osPid, startTime, boot, group }
      expect(startTimeOf(escaped)).not.toBe('')
      const end = { pid: 'p_left', signal: 'SIGTERM', graceMs: 60_000, program }
      expect(await asker.ask('end', end)).toEqual({ how: 'asked' })
      expect(startTimeOf(escaped)).toBe('')
      expect(await asker.ask('end', end)).toEqual({ how: 'already_gone' })
      await until('nothing is left of it', () => readdirSync(temp.home.live).length === 0)
      expect(existsSync(started.program.cgroup!)).toBe(false)
    } finally {
      if (startTimeOf(escaped) !== '') process.kill(escaped, 'SIGKILL')
    }
  })

test('an exit that comes first is not called an end that was asked for', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  for (let at = 0; at < 30; at++) {
    const pid = `p_race_${at}`
    await daemon.sh(pid, 'exit 5')
    const answer = await daemon.ask('end', { pid, signal: 'SIGTERM', graceMs: 60_000 })
    const exit = await daemon.exit(pid)
    if (exit.exitCode === 5) expect(exit.signal).toBeNull()
    else expect(exit).toMatchObject({ signal: 'SIGTERM', because: 'asked' })
    if (answer.how === 'already_gone') expect(exit).toMatchObject({ exitCode: 5, because: null })
    expect(daemon.tells.filter((tell) => tell.tell === 'ended' && tell.state.pid === pid).length).toBe(1)
  }
})

test('a program that runs for too long is ended, with the reason', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_long', 'while :; do echo x; sleep 0.02; done', { timeoutMs: 300 })
  expect(await daemon.exit('p_long')).toMatchObject({ signal: 'SIGTERM', because: 'timeout' })
})

test('a program that prints nothing for too long is ended, and one that prints is not', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_idle', 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exec sleep 300', {
    idleTimeoutMs: 3_000,
  })
  expect(await daemon.exit('p_idle')).toMatchObject({ signal: 'SIGTERM', because: 'idle' })
  expect(temp.output('p_idle').text).toBe('1\n2\n3\n4\n5\n6\n')
})

test('a paused program is not idle, and has all its time again when it is resumed', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_paused', 'exec sleep 300', { idleTimeoutMs: 2_500 })
  await daemon.ask('pause', { pid: 'p_paused' })
  // Two that begin later are idle for as long, one after the other.
  for (const pid of ['p_first', 'p_second']) {
    await daemon.sh(pid, 'exec sleep 300', { idleTimeoutMs: 2_500 })
    expect(await daemon.exit(pid)).toMatchObject({ because: 'idle' })
  }
  expect(await daemon.ask('state', { pid: 'p_paused' })).toMatchObject({ state: 'running', paused: true })
  const resumedAt = Date.now()
  await daemon.ask('resume', { pid: 'p_paused' })
  const exit = await daemon.exit('p_paused')
  expect(exit).toMatchObject({ because: 'idle' })
  expect(exit.at - resumedAt).toBeGreaterThanOrEqual(2_499)
})

test('limits of output, CPU time and memory end a program by name', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  const eat = 'x=x; while :; do x="$x$x"; done'
  await daemon.sh('p_out', 'yes', { limits: { ...limits, outputBytes: 100_000 } })
  await daemon.sh('p_cpu', 'while :; do :; done', { limits: { ...limits, cpuSeconds: 0.5 } })
  await daemon.sh('p_mem', eat, { limits: { ...limits, memoryBytes: 64_000_000 } })
  await daemon.sh('p_mem_sampled', 'head -c 200000000 /dev/zero | tail -c 190000000 | sleep 300', {
    limits: { ...limits, memoryBytes: 64_000_000 },
    tree: 'marker',
  })
  expect(await daemon.exit('p_out')).toMatchObject({ because: 'limit:output' })
  expect(await daemon.exit('p_cpu')).toMatchObject({ because: 'limit:cpu' })
  expect(await daemon.exit('p_mem')).toMatchObject({ because: 'limit:memory' })
  expect(await daemon.exit('p_mem_sampled')).toMatchObject({ because: 'limit:memory' })
})

test('limits that are set while a program runs count from then on, including past usage', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  const run = 'printf 12345; read x; printf 12345; read x'
  await daemon.sh('p_less', run, { stdin: 'pipe', limits: { ...limits, outputBytes: 100 } })
  await daemon.sh('p_more', run, { stdin: 'pipe', limits: { ...limits, outputBytes: 7 } })
  await daemon.sh('p_cpu', 'while :; do :; done')
  const told = (pid: string, outputBytes: number | null, cpuSeconds: number | null = null) =>
    daemon.ask('limits', { pid, outputBytes, cpuSeconds })
  expect(await told('p_more', 20)).toEqual({ type: 'set' })
  expect(await told('p_cpu', null, 0)).toEqual({ type: 'set' })
  expect(await told('p_less', 4)).toEqual({ type: 'set' })
  expect(await daemon.exit('p_less')).toMatchObject({ because: 'limit:output' })
  expect(await daemon.exit('p_cpu')).toMatchObject({ because: 'limit:cpu' })
  expect(await told('p_less', 4)).toEqual({ type: 'ended' })
  await expect(told('p_more', -1)).rejects.toThrow('outputBytes -1')
  for (const seq of [1, 2])
    await daemon.ask('write', { pid: 'p_more', seq, data: Buffer.from('go\n').toString('base64') })
  expect(await daemon.exit('p_more')).toMatchObject({ because: null, outputEnd: 10 })
})

test('a limit of open files holds in the program', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_files', 'ulimit -n', { limits: { ...limits, openFiles: 77 } })
  expect((await daemon.exit('p_files')).exitCode).toBe(0)
  expect(temp.output('p_files').text).toBe('77\n')
})

test('a paused tree stands still until it is resumed, and can be ended', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_still', 'sh -c "while :; do echo x; sleep 0.01; done"; true')
  await until('it writes', () => temp.output('p_still').text.length > 10)
  expect((await daemon.ask('pause', { pid: 'p_still' })).stopped).toBeGreaterThanOrEqual(2)
  const state = await daemon.ask('state', { pid: 'p_still' })
  expect(state).toMatchObject({ state: 'running', paused: true })
  if (state?.state === 'running') {
    const { osPid } = state.program
    await until('it is stopped', () => readFileSync(`/proc/${osPid}/stat`, 'utf8').includes(') T '))
  }
  expect((await daemon.ask('resume', { pid: 'p_still' })).continued).toBeGreaterThanOrEqual(2)
  const { length } = temp.output('p_still').text
  await until('it goes on', () => temp.output('p_still').text.length > length)
  await daemon.ask('pause', { pid: 'p_still' })
  expect(await daemon.ask('end', { pid: 'p_still', signal: 'SIGTERM', graceMs: 60_000 })).toEqual({
    how: 'asked',
  })
})

test('a tree that is ended while it is just being paused need not be forced', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  const busy = 'while :; do :; done'
  for (let at = 0; at < 20; at++) {
    const pid = `p_stopping_${at}`
    await daemon.sh(pid, `${busy} & ${busy} & while :; do head -c 100000 /dev/zero; done`)
    const paused = daemon.ask('pause', { pid })
    expect(await daemon.ask('end', { pid, signal: 'SIGTERM', graceMs: 60_000 })).toEqual({ how: 'asked' })
    await paused
  }
})

test('a named signal reaches the process, or all of its group', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh(
    'p_sig',
    'trap "echo usr1" USR1; trap "echo usr2" USR2; echo ready; while :; do sleep 0.02; done',
  )
  await until('it listens', () => temp.output('p_sig').text === 'ready\n')
  expect(await daemon.ask('signal', { pid: 'p_sig', signal: 'SIGUSR1', to: 'process' })).toEqual({
    sent: 'sent',
  })
  await until('it heard', () => temp.output('p_sig').text.includes('usr1'))
  await expect(daemon.ask('signal', { pid: 'p_sig', signal: 'SIGX', to: 'group' })).rejects.toThrow(
    'no signal SIGX',
  )
  expect(await daemon.ask('signal', { pid: 'p_sig', signal: 'SIGKILL', to: 'group' })).toEqual({
    sent: 'sent',
  })
  expect(await daemon.exit('p_sig')).toMatchObject({ signal: 'SIGKILL', because: null })
  await until('all are gone', async () => {
    const { sent } = await daemon.ask('signal', { pid: 'p_sig', signal: 'SIGKILL', to: 'group' })
    return sent === 'ended'
  })
})

for (const tree of ['auto', 'marker'] as const)
  test(`usage is reported at the end without an earlier request, and sampled values are marked (${tree})`, async () => {
    const { temp, daemon } = await keeperWithDaemon()
    await using _ = temp

    const script = `const held = Buffer.alloc(80 << 20, 1)
      console.log('held')
      setTimeout(() => console.log(held.length), 2500)`
    await daemon.spawn('p_big', { argv: [process.execPath, '-e', script], tree })
    await daemon.sh('p_short', 'exit 0', { tree })
    await daemon.sh('p_asked', 'exec sleep 300', { tree })
    await daemon.ask('usage', { pids: ['p_asked'] })
    await daemon.ask('end', { pid: 'p_asked', signal: 'SIGTERM', graceMs: 60_000 })
    const looked = {
      cpuMs: expect.any(Number),
      sampled: true,
      readBytes: expect.any(Number),
      writtenBytes: expect.any(Number),
    }
    expect((await daemon.exit('p_short')).usage).toMatchObject(looked)
    expect((await daemon.exit('p_asked')).usage).toMatchObject({
      ...looked,
      peakMemoryBytes: expect.any(Number),
    })
    const { usage } = await daemon.exit('p_big')
    expect(usage).toMatchObject({ sampled: true })
    expect(usage?.peakMemoryBytes).toBeGreaterThan(80 << 20)
    expect(usage?.peakMemoryBytes).toBeLessThan(250 << 20)
    expect(usage?.cpuMs).toBeGreaterThan(0)
  })

test('a terminal is measured without the copy of the keeper that it was', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  for (let at = 0; at < 10; at++) {
    const pid = `p_small_${at}`
    await daemon.sh(pid, 'exec sleep 0.1', { pty: { cols: 80, rows: 24 } })
    expect((await daemon.exit(pid)).usage?.peakMemoryBytes ?? 0).toBeLessThan(16 << 20)
  }
})

test('usage is measured while a program runs, and reported at its end', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_use', 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; exec sleep 300')
  await until('it is done', () => temp.output('p_use').text === 'done\n')
  const { usages } = await daemon.ask('usage', { pids: ['p_use', 'p_other'] })
  expect(usages['p_other']).toBeNull()
  expect(usages['p_use']?.cpuMs).toBeGreaterThan(0)
  expect(usages['p_use']?.peakMemoryBytes).toBeGreaterThan(100_000)
  expect(usages['p_use']?.memoryBytes).toBeGreaterThan(100_000)
  await daemon.ask('end', { pid: 'p_use', signal: 'SIGTERM', graceMs: 60_000 })
  const { usage } = await daemon.exit('p_use')
  expect(usage?.cpuMs).toBeGreaterThan(0)
  expect(usage).not.toHaveProperty('memoryBytes')
})
