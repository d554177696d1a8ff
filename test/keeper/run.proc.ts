import { expect, test } from 'vitest'
import { Estate } from './client.ts'

test('a program that exits with 7 is seen to do so, with all it wrote', async () => {
  await using estate = new Estate()
  await estate.startKeeper()
  const daemon = await estate.daemon()

  const started = await daemon.sh('p_seven', 'echo one; echo two >&2; exit 7')
  expect(started).toMatchObject({ state: 'running', pid: 'p_seven', orphaned: false })
  expect(await daemon.exit('p_seven')).toMatchObject({
    exitCode: 7,
    signal: null,
    because: null,
    outputEnd: 8,
  })
  expect(estate.output('p_seven').text).toBe('one\ntwo\n')
})

test('scripts may write to /dev/stderr and through tee', async () => {
  await using estate = new Estate()
  await estate.startKeeper()
  const daemon = await estate.daemon()

  await daemon.sh('p_err', 'echo x > /dev/stderr; echo y | tee /dev/stderr; echo z')
  expect((await daemon.exit('p_err')).exitCode).toBe(0)
  expect(estate.output('p_err').text).toBe('x\ny\ny\nz\n')
})

test('a terminal echoes, knows its size and hears of another', async () => {
  await using estate = new Estate()
  await estate.startKeeper()
  const daemon = await estate.daemon()

  await daemon.sh('p_pty', 'stty size; read line; echo got $line; stty size; kill -9 $$', {
    pty: { cols: 100, rows: 30 },
  })
  expect(await daemon.ask('resize', { pid: 'p_pty', cols: 90, rows: 20 })).toEqual({ type: 'resized' })
  expect(await daemon.write('p_pty', 'hello\r')).toEqual({ type: 'written', bytes: 6 })
  expect(await daemon.exit('p_pty')).toMatchObject({ exitCode: null, signal: 'SIGKILL', because: null })
  expect(estate.output('p_pty').text).toContain('got hello\r\n20 90\r\n')
  expect(await daemon.ask('resize', { pid: 'p_pty', cols: 1, rows: 2 })).toEqual({ type: 'ended' })
})
