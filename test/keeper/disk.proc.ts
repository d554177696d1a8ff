import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SpareFiles } from '../../src/keeper/program/spare-files.ts'
import type { HeldBack } from '../../src/keeper/protocol/program-state.ts'
import { osProcess, signalOne } from '../command/os-processes.ts'
import { NEEDS_MOUNT } from '../reporting/test-if.ts'
import { type Daemon, exitOf, TempKeeper, until } from './client.ts'

const caps = { headBytes: 0, tailBytes: 1e9, segmentBytes: 1e9, minFreeBytes: 0 }

/** Output logs on a disk of their own, which is small. Undefined where this user may not make one. */
async function keeperOnSmallDisk(megabytes: number) {
  const temp = new TempKeeper()
  const { output } = temp.home
  mkdirSync(output, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', output], { stdio: 'ignore' })
  } catch {
    await temp[Symbol.asyncDispose]()
    return undefined
  }
  const unmounted = {
    temp,
    async [Symbol.asyncDispose]() {
      await temp.stop()
      execFileSync('umount', [output])
      await temp[Symbol.asyncDispose]()
    },
  }
  await temp.startKeeper()
  return unmounted
}

for (const [name, pty] of [
  ['through a pipe', null],
  ['in a terminal', { cols: 80, rows: 24 }],
] as const)
  test(`a program ${name} is held back while the disk is full, and loses nothing`, async (context) => {
    await using disk = await keeperOnSmallDisk(4)
    if (disk === undefined) return context.skip(NEEDS_MOUNT)
    const { temp } = disk
    const daemon = await temp.daemon()
    const ballast = join(temp.home.output, 'ballast')
    writeFileSync(ballast, Buffer.alloc(2_000_000))

    await daemon.sh('p_full', 'seq 1 400000', { caps, pty })
    await until('the trouble is told', () => daemon.tells.some((tell) => tell.tell === 'trouble'))
    const { heldBack } = (await daemon.ask('state', { pid: 'p_full' })) as { heldBack: HeldBack }
    expect(heldBack.bytes).toBeGreaterThan(0)
    rmSync(ballast)
    const expected = 2_688_895 + (pty === null ? 0 : 400_000)
    expect(await daemon.exit('p_full')).toMatchObject({ exitCode: 0, outputEnd: expected })
    const lines = temp.output('p_full').text.split(/\r?\n/)
    expect(lines.findIndex((line, at) => at < 400_000 && line !== String(at + 1))).toBe(-1)
    expect(daemon.tells.filter((tell) => tell.tell === 'trouble').length).toBe(1)
    expect(daemon.tells.filter((tell) => tell.tell === 'held').at(-1)).toMatchObject({ heldBack: null })
  })

test('a program that ends while the disk is full has its last output written when there is space', async (context) => {
  await using disk = await keeperOnSmallDisk(2)
  if (disk === undefined) return context.skip(NEEDS_MOUNT)
  const { temp } = disk
  const daemon = await temp.daemon()
  const ballast = await printOnFullDisk(temp.home.output, daemon)
  await until('the trouble is told', () => daemon.tells.some((tell) => tell.tell === 'trouble'))
  rmSync(ballast)
  expect(await daemon.exit('p_last')).toMatchObject({ exitCode: 0, outputEnd: 3893 })
  expect(temp.output('p_last').text.length).toBe(3893)
})

test('a flooding program stops while the disk is nearly full', async (context) => {
  await using disk = await keeperOnSmallDisk(32)
  if (disk === undefined) return context.skip(NEEDS_MOUNT)
  const { temp } = disk
  const daemon = await temp.daemon()
  for (const output of ['merged', 'direct'] as const) {
    const pid = `p_${output}`
    await daemon.sh(pid, 'while :; do head -c 200000 /dev/zero; sleep 0.05; done', {
      // Most of the disk, so that a keeper that comes late to look still finds space.
      caps: { ...caps, minFreeBytes: 24_000_000 },
      output,
    })
    await until('it is held back', () =>
      daemon.tells.some(
        (tell) => tell.tell === 'trouble' && tell.pid === pid && /nearly full/.test(tell.message),
      ),
    )
    const { bavail, bsize } = statfsSync(temp.home.output)
    expect(bavail * bsize).toBeGreaterThan(0)
    expect(await daemon.ask('end', { pid, signal: 'SIGTERM', graceMs: 60_000 })).toEqual({ how: 'asked' })
    rmSync(join(temp.home.output, pid), { recursive: true, maxRetries: 10 })
  }
})

test('a file that the disk takes a part of only is no file', async (context) => {
  await using disk = await keeperOnSmallDisk(1)
  if (disk === undefined) return context.skip(NEEDS_MOUNT)
  const { output } = disk.temp.home
  const folder = join(output, 'spare')
  const files = new SpareFiles(folder)
  const { bavail, bsize } = statfsSync(output)
  writeFileSync(join(output, 'ballast'), Buffer.alloc((bavail - 1) * bsize))
  expect(() => files.fill('x'.repeat(bsize + 1), false)).toThrow('ENOSPC')
  expect(readdirSync(folder)).toEqual([])
  rmSync(join(output, 'ballast'))
  expect(readdirSync(folder).concat(files.fill('x'.repeat(bsize + 1), false)).length).toBe(1)
})

test('a program that is stopped because the disk is nearly full is not called idle', async (context) => {
  await using disk = await keeperOnSmallDisk(32)
  if (disk === undefined) return context.skip(NEEDS_MOUNT)
  const { temp } = disk
  const daemon = await temp.daemon()
  await daemon.sh('p_held', 'while :; do head -c 200000 /dev/zero; sleep 0.02; done', {
    caps: { ...caps, minFreeBytes: 8_000_000 },
    output: 'direct',
    idleTimeoutMs: 2_500,
  })
  await until('it is held back', () => daemon.tells.some((tell) => tell.tell === 'trouble'))
  // Two that begin later are idle for as long, one after the other.
  for (const pid of ['p_first', 'p_second']) {
    await daemon.sh(pid, 'exec sleep 300', { idleTimeoutMs: 2_500 })
    expect(await daemon.exit(pid)).toMatchObject({ because: 'idle' })
  }
  expect(await daemon.ask('state', { pid: 'p_held' })).toMatchObject({ state: 'running' })
})

test('output that was deleted while the disk was full holds neither the disk nor the keeper', async (context) => {
  await using disk = await keeperOnSmallDisk(2)
  if (disk === undefined) return context.skip(NEEDS_MOUNT)
  const { temp } = disk
  const daemon = await temp.daemon()
  await daemon.sh('p_late', '(seq 1 400000) & exit 0', { caps })
  await daemon.exit('p_late')
  await until('the trouble is told', () => daemon.tells.some((tell) => tell.tell === 'trouble'))
  await daemon.ask('acknowledge', { pid: 'p_late' })
  rmSync(join(temp.home.output, 'p_late'), { recursive: true })
  await daemon.ask('leave', {})
  daemon.close()
  expect(await exitOf(temp.keeper)).toBe(0)
  const { bavail, bsize } = statfsSync(temp.home.output)
  expect(bavail * bsize).toBeGreaterThan(1_900_000)
})

test('a program that writes its log by itself is stopped at its first output if the disk is nearly full already', async (context) => {
  await using disk = await keeperOnSmallDisk(8)
  if (disk === undefined) return context.skip(NEEDS_MOUNT)
  const { temp } = disk
  const daemon = await temp.daemon()
  writeFileSync(join(temp.home.output, 'ballast'), Buffer.alloc(2_000_000))
  const direct = { caps: { ...caps, minFreeBytes: 7_000_000 }, output: 'direct' } as const
  await daemon.sh('p_silent', 'exec sleep 300', direct)
  await daemon.sh('p_prints', 'while :; do echo x; sleep 0.01; done', direct)
  await until('the trouble is told', () => daemon.tells.some((tell) => tell.tell === 'trouble'))
  await until('it is told to be held back', () => daemon.tells.length > 1)
  expect(daemon.tells).toMatchObject([
    { tell: 'trouble', pid: 'p_prints', message: expect.stringContaining('nearly full') },
    { tell: 'held', pid: 'p_prints', heldBack: { bytes: 0 } },
  ])
  expect(await daemon.ask('state', { pid: 'p_prints' })).toMatchObject({ heldBack: { bytes: 0 } })
})

test('descendants of a program that was stopped because the disk is nearly full go on when it is gone', async (context) => {
  await using disk = await keeperOnSmallDisk(8)
  if (disk === undefined) return context.skip(NEEDS_MOUNT)
  const { temp } = disk
  const daemon = await temp.daemon()
  writeFileSync(join(temp.home.output, 'ballast'), Buffer.alloc(2_000_000))
  const done = join(temp.folder, 'done')
  const started = await daemon.sh('p_parent', `(sleep 0.5; echo done > ${done}) & while :; do echo x; done`, {
    caps: { ...caps, minFreeBytes: 7_000_000 },
    output: 'direct',
  })
  await until('the trouble is told', () => daemon.tells.some((tell) => tell.tell === 'trouble'))
  if (started.state === 'running') signalOne(osProcess(started.program.osPid), 'SIGKILL')
  expect(await daemon.exit('p_parent')).toMatchObject({ signal: 'SIGKILL', because: null })
  await until('it goes on', () => existsSync(done))
})

test('a keeper stays until the disk has taken the last output of an ended program, also without a daemon', async (context) => {
  await using disk = await keeperOnSmallDisk(4)
  if (disk === undefined) return context.skip(NEEDS_MOUNT)
  const { temp } = disk
  const daemon = await temp.daemon()
  const ballast = await printOnFullDisk(temp.home.output, daemon)
  expect(await daemon.exit('p_last')).toMatchObject({ exitCode: 0, outputEnd: 3893 })
  await daemon.ask('acknowledge', { pid: 'p_last' })
  expect(await daemon.ask('leave', {})).toEqual({ stays: true })
  daemon.close()
  rmSync(ballast)
  expect(await exitOf(temp.keeper)).toBe(0)
  expect(temp.output('p_last').text.length).toBe(3893)
})

/** Starts a program that prints 3,893 bytes, fills the disk, and lets it print. Returns the file that fills the disk. */
async function printOnFullDisk(folder: string, daemon: Daemon): Promise<string> {
  const ballast = join(folder, 'ballast')
  await daemon.sh('p_last', 'read go; seq 1 1000', { caps, stdin: 'pipe' })
  const { bavail, bsize } = statfsSync(folder)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize))
  await daemon.write('p_last', 'go\n')
  return ballast
}
