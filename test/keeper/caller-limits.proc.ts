import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { changedLimits } from '../../src/keeper/program/caller-limits.ts'
import { limitsIn } from '../../src/os/resource-limits.ts'
import { hasPrlimit, NEEDS_PRLIMIT, testIf } from '../reporting/test-if.ts'
import { keeperWithDaemon } from './client.ts'

for (const pty of [null, { cols: 80, rows: 24 }])
  test(`a program ${pty === null ? 'without' : 'in'} a terminal gets the umask of its caller, and the keeper keeps its own`, async () => {
    const { temp, daemon } = await keeperWithDaemon()
    await using _ = temp

    await daemon.sh('p_own', 'umask', { pty })
    await daemon.sh('p_caller', 'umask', { pty, umask: 0o345 })
    await daemon.sh('p_after', 'umask', { pty })
    for (const pid of ['p_own', 'p_caller', 'p_after']) expect((await daemon.exit(pid)).exitCode).toBe(0)
    expect(temp.output('p_caller').text.trim()).toBe('0345')
    expect(temp.output('p_after').text).toBe(temp.output('p_own').text)
  })

for (const pty of [null, { cols: 80, rows: 24 }])
  testIf(hasPrlimit, NEEDS_PRLIMIT)(
    `a program ${pty === null ? 'without' : 'in'} a terminal gets the resource limits of its caller`,
    async () => {
      const { temp, daemon } = await keeperWithDaemon()
      await using _ = temp

      const rlimits: Record<string, [number | null, number | null]> = { nofile: [64, 128], core: [0, 0] }
      await daemon.sh('p_limited', 'ulimit -Sn; ulimit -Hn; ulimit -Hc; exit 5', { pty, rlimits })
      expect((await daemon.exit('p_limited')).exitCode).toBe(5)
      expect(temp.output('p_limited').text.replaceAll('\r', '')).toBe('64\n128\n0\n')
    },
  )

testIf(hasPrlimit, NEEDS_PRLIMIT)(
  'with limits of its caller, a script whose interpreter is missing does not start',
  async () => {
    const { temp, daemon } = await keeperWithDaemon()
    await using _ = temp

    const rlimits: Record<string, [number | null, number | null]> = { nofile: [64, 128] }
    const script = join(temp.folder, 'script')
    writeFileSync(script, '#!/no/such/interpreter\n', { mode: 0o755 })
    const missing = await daemon.spawn('p_missing', { argv: [script], rlimits })
    expect(missing).toMatchObject({
      state: 'failed_start',
      message: expect.stringContaining('/no/such/interpreter'),
    })
  },
)

test('only limits that differ are set, and none above the hard limit of the keeper', () => {
  const own = limitsIn(`Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max core file size        0                    unlimited            bytes
Max open files            4096                 4096                 files
Max processes             100                  200                  processes
`)
  expect(own).toEqual({ cpu: [null, null], core: [0, null], nofile: [4096, 4096], nproc: [100, 200] })
  const wanted: typeof own = {
    cpu: [null, null],
    core: [null, null],
    nofile: [1024, 524288],
    nproc: [null, null],
  }
  expect(changedLimits(wanted, own)).toEqual([
    '--core=unlimited:unlimited',
    '--nofile=1024:4096',
    '--nproc=200:200',
  ])
  expect(changedLimits(own, own)).toEqual([])
})

test('a plan with a umask or limits of another shape is refused', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await expect(daemon.sh('p_bad', 'true', { umask: 0o1000 })).rejects.toThrow('bad_ask')
  const rlimits: Record<string, [number | null, number | null]> = { '-x': [1, 1] }
  await expect(daemon.sh('p_worse', 'true', { rlimits })).rejects.toThrow('bad_ask')
})
