import { expect, test } from 'vitest'
import { keeperWithDaemon, until } from './client.ts'

test('a program without input reads the end at once, and a write to it is refused', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_null', 'cat; echo done; sleep 300')
  await until('it has read', () => temp.output('p_null').text === 'done\n')
  expect(await daemon.write('p_null', 'x')).toEqual({ type: 'no_stdin' })
  expect(await daemon.ask('closeInput', { pid: 'p_null' })).toEqual({ type: 'no_stdin' })
})

test('given text is the whole input, also by its name and however long', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp
  const text = 'line of text\n'.repeat(20_000)

  await daemon.sh('p_text', 'cat /dev/stdin | wc -c', { stdin: { text } })
  expect((await daemon.exit('p_text')).exitCode).toBe(0)
  expect(temp.output('p_text').text.trim()).toBe('260000')
})

test('a piped input is read as it comes, also by its name, until it is closed', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_pipe', 'cat /dev/stdin; echo end', { stdin: 'pipe' })
  expect(await daemon.write('p_pipe', 'one\n')).toEqual({ type: 'written', bytes: 4 })
  await until('it came through', () => temp.output('p_pipe').text === 'one\n')
  expect(await daemon.write('p_pipe', 'é\n')).toEqual({ type: 'written', bytes: 3 })
  expect(await daemon.ask('closeInput', { pid: 'p_pipe' })).toEqual({ type: 'closed' })
  expect(await daemon.exit('p_pipe')).toMatchObject({ exitCode: 0, outputEnd: 11 })
  expect(await daemon.write('p_pipe', 'late')).toEqual({ type: 'ended' })
})

test('a write that is repeated with its number types nothing twice', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_seq', 'cat', { stdin: 'pipe' })
  expect(await daemon.write('p_seq', 'one\n', 1)).toEqual({ type: 'written', bytes: 4 })
  expect(await daemon.write('p_seq', 'one\n', 1)).toEqual({ type: 'replayed', bytes: 4 })
  expect(await daemon.write('p_seq', 'three\n', 3)).toEqual({ type: 'written', bytes: 6 })
  expect(await daemon.write('p_seq', 'one\n', 1)).toEqual({ type: 'replayed', bytes: 4 })
  expect(await daemon.write('p_seq', 'two\n', 2)).toEqual({ type: 'replayed', bytes: 0 })
  await daemon.ask('closeInput', { pid: 'p_seq' })
  await daemon.exit('p_seq')
  expect(temp.output('p_seq').text).toBe('one\nthree\n')
})

test('a program that does not read is given no more than a bounded amount, and then all of it', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp
  const chunk = 'x'.repeat(256 * 1024)

  await daemon.sh('p_full', 'read first; wc -c', { stdin: 'pipe' })
  await daemon.ask('pause', { pid: 'p_full' })
  let given = 0
  let answer = await daemon.write('p_full', 'go\n')
  while (answer.type === 'written' && given < 10_000_000) {
    answer = await daemon.write('p_full', chunk)
    if (answer.type === 'written') given += answer.bytes
  }
  expect(answer).toMatchObject({ type: 'full' })
  expect(given).toBeLessThan(1024 * 1024 + 2 * chunk.length)
  await daemon.ask('resume', { pid: 'p_full' })
  await daemon.ask('closeInput', { pid: 'p_full' })
  await daemon.exit('p_full')
  expect(Number(temp.output('p_full').text)).toBe(given)
})

test('a program that has closed its input makes writing to it fail with words', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_shut', 'exec <&-; echo shut; sleep 300', { stdin: 'pipe' })
  await until('its input is shut', () => temp.output('p_shut').text === 'shut\n')
  await until('it is seen to be closed', async () => (await daemon.write('p_shut', 'x')).type === 'closed')
})

test('of many writes the last ones are known by their number, and none is typed twice', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_many', 'cat', { stdin: 'pipe' })
  const texts = Array.from({ length: 100 }, (_, at) => `${'x'.repeat(at)}\n`)
  for (const [seq, text] of texts.entries()) await daemon.write('p_many', text, seq)
  expect(await daemon.write('p_many', 'again\n', 99)).toEqual({ type: 'replayed', bytes: 100 })
  expect(await daemon.write('p_many', 'again\n', 40)).toEqual({ type: 'replayed', bytes: 41 })
  expect(await daemon.write('p_many', 'again\n', 3)).toEqual({ type: 'replayed', bytes: 0 })
  await daemon.ask('closeInput', { pid: 'p_many' })
  await daemon.exit('p_many')
  expect(temp.output('p_many').text).toBe(texts.join(''))
})
