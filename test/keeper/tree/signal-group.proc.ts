import { expect, test } from 'vitest'
import { signalGroup } from '../../../src/keeper/tree/signal-group.ts'
import { statOf } from '../../../src/os/stat.ts'
import { lives, TestProgram, until } from './program.ts'

test('a signal to the group reaches its members and no process that left it', async () => {
  using started = new TestProgram(`
    member='trap "echo heard >> heard" USR1; echo $$ >> "$PIDS"; while :; do sleep 0.01; done'
    sh -c "$member" &
    sh -c "$member" &
    setsid sh -c "$member" &
    trap "echo heard >> heard" USR1
    echo $$ >> "$PIDS"; while :; do sleep 0.01; done`)
  const osPids = await started.whenThereAre(4)
  expect(signalGroup({ ...started.program, startTime: '1' }, 'SIGUSR1')).toBe('not_ours')
  expect(signalGroup(started.program, 'SIGUSR1')).toBe('sent')
  await until('three have heard', () => (started.read('heard') ?? '').split('\n').length > 3)
  expect(started.read('heard')).toBe('heard\nheard\nheard\n')
  expect(osPids.filter(lives)).toHaveLength(4)
})

test('remaining members of a group are signalled only if they have its marker', async () => {
  using started = new TestProgram('sh -c \'echo $$ >> "$PIDS"; exec sleep 300\' & wait $!; exit 0')
  const [osPid] = await started.whenThereAre(1)
  process.kill(started.program.osPid, 'SIGKILL')
  await started.exited
  expect(signalGroup(started.program, 'SIGKILL')).toBe('ended')
  expect(lives(osPid!)).toBe(true)
  expect(statOf(osPid!)?.group).toBe(started.program.osPid)
  expect(signalGroup(started.program, 'SIGKILL', started.marker)).toBe('sent')
  await until('it is gone', () => !lives(osPid!))
})
