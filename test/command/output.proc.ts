import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { bytesOf, codeOf, ended, printed, runs, start, TempReeve, textOf } from './commands.ts'

test('scripts write to /dev/stderr, and through tee, as in a terminal', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { outcome, text } = await runs(
    reeve,
    'echo a; echo x > /dev/stderr; echo y | tee /dev/stderr; echo z > /dev/stdout; echo b',
  )
  expect(outcome).toMatchObject({ status: 'completed', exitCode: 0 })
  expect(text).toBe('a\nx\ny\ny\nz\nb\n')
})

test('a command ends at once with its own code while a descendant holds its output, and kill ends that too', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid, outcome, text } = await runs(reeve, 'sleep 30 & echo x; exit 3')
  expect([outcome?.status, outcome?.exitCode, text]).toEqual(['failed', 3, 'x\n'])
  expect(outcome?.result).toMatchObject({ leftBehind: 1 })
  expect(temp.programs(pid)).toHaveLength(1)
  const { type: answer, record } = await reeve.kill({ pid })
  expect([answer, record.outcome]).toEqual(['already_ended', outcome])
  expect(temp.programs(pid)).toEqual([])
})

test('output of descendants after the end goes to the log, behind the end of the output', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const go = join(temp.folder, 'go')
  const { pid, outcome, text } = await runs(
    reeve,
    `(while [ ! -e ${go} ]; do sleep 0.02; done; echo late) & echo early`,
  )
  expect([outcome?.exitCode, text]).toEqual([0, 'early\n'])
  expect(outcome?.result).toMatchObject({ outputBytes: 6 })
  writeFileSync(go, '')
  await until('the late line is in the log', async () => (await textOf(reeve, pid)) === 'early\nlate\n')
  expect((await reeve.show({ pid })).outcome).toEqual(outcome)
})

test('a letter whose bytes come apart is one letter for every reader', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const go = join(temp.folder, 'go')
  const { pid } = await start(
    reeve,
    `printf 'caf\\303'; while [ ! -e ${go} ]; do sleep 0.02; done; printf '\\251\\n'`,
  )
  await until('the first half is there', async () => (await reeve.output({ pid })).end === 4)
  const first = await reeve.poll({ pid })
  expect(first.text).toBe('caf')
  writeFileSync(go, '')
  await ended(reeve, pid)
  const second = await reeve.poll({ pid })
  expect([second.text, second.more, second.truncated]).toEqual(['é\n', false, []])
  expect((await reeve.poll({ pid, cursor: 'o0' })).text).toBe('café\n')
  expect((await reeve.log({ pid })).lines).toEqual([{ number: 0, offset: 0, text: 'café' }])
  expect([...(await bytesOf(reeve, pid))]).toEqual([0x63, 0x61, 0x66, 0xc3, 0xa9, 0x0a])
})

test('a program that looks at its input finds none, and does not wait for any', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  expect(await runs(reeve, { argv: ['cat'] })).toMatchObject({ outcome: { exitCode: 0 }, text: '' })
  const looks = '[ -p /dev/stdin ] && echo pipe; [ -t 0 ] && echo terminal; read x || echo nothing'
  expect((await runs(reeve, looks)).text).toBe('nothing\n')
})

test('arguments reach a program byte for byte, without any shell', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const args = ['', ' a  b ', "it's", '"q"', '$HOME `id` \\ * ? ~', 'new\nline', 'é✓\t', '-n', '&', '<<EOF']
  const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))'
  const { text } = await runs(reeve, { argv: [process.execPath, '-e', script, '--', ...args] })
  expect(JSON.parse(text)).toEqual(args)
})

test('a line for the shell reaches it byte for byte: heredocs, quotes, ampersands, spaces at its end', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const line = [
    "cat /proc/$$/cmdline; cat <<'EOF' && true & wait",
    '\tit\'s "here" \\ $HOME `id` é✓',
    'EOF',
    'echo "a"\'b\'\\c  &&  :  ',
    '\t ',
  ].join('\n')
  const { text, outcome } = await runs(reeve, line)
  expect(outcome?.exitCode).toBe(0)
  const [shell, flag, given, rest] = text.split('\0')
  expect([shell, flag, given]).toEqual(['/bin/sh', '-c', line])
  expect(rest).toBe('\tit\'s "here" \\ $HOME `id` é✓\nabc\n')
})

test('a tagged log keeps standard output and error apart', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid, outcome } = await runs(reeve, {
    run: 'echo one; echo two >&2; echo three | tee /dev/stderr',
    output: 'tagged',
  })
  expect(outcome?.exitCode).toBe(0)
  const linesOf = async (stream: 'stdout' | 'stderr') =>
    (await reeve.log({ pid, stream })).lines.map((line) => [line.text, line.stream])
  expect(await linesOf('stdout')).toEqual([
    ['one', 'stdout'],
    ['three', 'stdout'],
  ])
  expect(await linesOf('stderr')).toEqual([
    ['two', 'stderr'],
    ['three', 'stderr'],
  ])
  expect((await reeve.log({ pid })).total).toBe(4)
})

test('a program may write its log by itself, and it is read, watched and ended like any other', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { run: 'echo begun; exec sleep 1000', output: 'direct' })
  await printed(reeve, pid, 'begun')
  expect((await reeve.poll({ pid })).text).toBe('begun\n')
  expect((await reeve.kill({ pid })).record.outcome).toMatchObject({
    status: 'cancelled',
    signal: 'SIGTERM',
    result: { outputBytes: 6 },
  })
  const { outcome, text } = await runs(reeve, { run: 'echo out; echo err >&2; exit 9', output: 'direct' })
  expect([outcome?.exitCode, text]).toEqual([9, 'out\nerr\n'])
})

test('a poll goes on where the same caller stopped, another caller begins at the start, and a cursor decides', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const { pid } = await start(reeve, 'echo one; read x; echo two', { owner: { session: 's1' } })
  await ended(reeve, pid)
  const session = reeve.as('session:s1')
  const first = await reeve.poll({ pid, maxChars: 4 })
  expect([first.text, first.more, first.record.status]).toEqual(['one\n', true, 'completed'])
  expect(await reeve.poll({ pid })).toMatchObject({ text: 'two\n', more: false })
  expect(await reeve.poll({ pid })).toMatchObject({ text: '', more: false })
  expect(await session.poll({ pid })).toMatchObject({ text: 'one\ntwo\n' })
  expect(await reeve.poll({ pid, cursor: first.cursor })).toMatchObject({ text: 'two\n' })
  await reeve.close()
  const next = await temp.embed()
  expect(await next.poll({ pid })).toMatchObject({ text: '' })
  expect(await next.poll({ pid, cursor: 'o0' })).toMatchObject({ text: 'one\ntwo\n' })
})

test('a follower sees every byte once, from any offset, and ends with the command', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i; done')
  const whole = Array.from({ length: 2000 }, (_, index) => `line ${index + 1}\n`).join('')
  const followed = async (offset: number) => {
    let text = ''
    for await (const piece of reeve.followOutput({ pid, offset })) {
      expect([piece.offset, piece.gap]).toEqual([offset + text.length, null])
      text += Buffer.from(piece.bytes).toString()
    }
    return text
  }
  const both = await Promise.all([followed(0), followed(700)])
  expect(both).toEqual([whole, whole.slice(700)])
  expect(await followed(0)).toBe(whole)
  expect(temp.troubles).toEqual([])
})

test('logs can be read by their user alone', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await runs(reeve, 'echo secret')
  const folder = join(temp.keeperHome.output, pid)
  const modes = [temp.keeperHome.folder, folder, ...readdirSync(folder).map((name) => join(folder, name))]
    .map((path) => statSync(path).mode & 0o077)
    .filter((others) => others !== 0)
  expect(modes).toEqual([])
})

test('the output of a process that was pruned is gone with it', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await runs(reeve, 'echo x')
  expect(await reeve.prune({ keep: 0 })).toEqual({ pruned: [pid], kept: [] })
  expect(readdirSync(temp.keeperHome.output)).toEqual([])
  expect(await codeOf(reeve.poll({ pid }))).toBe('pruned_pid')
})
