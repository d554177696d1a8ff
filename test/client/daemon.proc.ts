import { connect } from 'reeve'
import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'

const line = (run: string, more: object = {}) => ({ kind: 'command', spec: { run, ...more } }) as const

test('over the socket and over TCP a client does what an embedded kernel does', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  for (const where of [{ home: temp.home.folder }, { url: daemon.url ?? '', token: daemon.token }]) {
    const reeve = await connect(where)
    expect(reeve.kernel).toBe(daemon.reeve.kernel)
    const { record } = await reeve.spawn(line('printf "héllo\\n"; exit 3', { output: 'tagged' }))
    const waited = await reeve.wait({ pid: record.pid })
    expect(waited).toMatchObject({ type: 'ended', record: { outcome: { exitCode: 3 } } })
    expect(await reeve.show({ pid: record.pid })).toEqual(await daemon.reeve.show({ pid: record.pid }))
    let text = ''
    for await (const { bytes } of reeve.followOutput({ pid: record.pid }))
      text += Buffer.from(bytes).toString()
    expect(text).toBe('héllo\n')
    await reeve.close()
    await expect(reeve.status()).rejects.toMatchObject({ code: 'closed' })
  }
  expect(await daemon.reeve.liveCount()).toMatchObject({ live: 0 })
})

test('a refusal is the same error with the same text, embedded and over the wire', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const reeve = await connect({ home: temp.home.folder })
  const [here, there] = await Promise.all(
    [daemon.reeve, reeve].map((side) => side.show({ pid: 'nobody' }).catch((error: unknown) => error)),
  )
  expect(there).toEqual(here)
  await reeve.close()
})

test('a client may act as a session, which reaches its own processes only', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const reeve = await connect({ home: temp.home.folder })
  await reeve.openSession({ session: 's1' })
  const other = await reeve.spawn(line('exec sleep 60'))
  const own = await reeve.as('session:s1').spawn({ ...line('exec sleep 60'), owner: { session: 's1' } })
  expect((await reeve.as('session:s1').list()).processes.map(({ record }) => record.pid)).toEqual([
    own.record.pid,
  ])
  await expect(reeve.as('session:s1').kill({ pid: other.record.pid })).rejects.toMatchObject({
    code: 'denied',
  })
  await daemon.reeve.killAll()
  await reeve.close()
})

test('a terminal takes input and resizes, and is read to its end', async () => {
  const temp = new TempReeve()
  await temp.up()
  const reeve = await connect({ home: temp.home.folder })
  const { record } = await reeve.spawn(
    line('printf "name? "; read name; stty size; echo "hi $name"', { pty: true }),
  )
  const terminal = await reeve.attach({ pid: record.pid })
  let shown = ''
  let asked = false
  for await (const { bytes } of terminal) {
    shown += Buffer.from(bytes).toString()
    if (asked || !shown.includes('name? ')) continue
    asked = true
    await terminal.resize({ cols: 90, rows: 20 })
    await terminal.write('you\r')
  }
  expect(shown).toContain('20 90')
  expect(shown).toContain('hi you')
  await expect(reeve.attach({ pid: 'nobody' })).rejects.toMatchObject({ code: 'unknown_pid' })
  await reeve.close()
})

test('output, events and a terminal are followed through kill -9 of the daemon: nothing missing, nothing twice', async () => {
  const temp = new TempReeve()
  const first = await temp.start()
  const reeve = await connect({ home: temp.home.folder })
  const loop = 'n=0; while [ $n -lt 300 ]; do n=$((n+1)); echo $n; sleep 0.01; done'
  const plain = await reeve.spawn(line(loop))
  const inTerminal = await reeve.spawn(line(loop, { pty: true }))
  const ends = (async () => {
    const ended: string[] = []
    const stop = new AbortController()
    for await (const event of reeve.follow({}, { signal: stop.signal })) {
      if (event.type === 'ended') ended.push(event.pid)
      if (ended.length === 2) stop.abort()
    }
    return ended
  })()
  const numbers = async (pieces: AsyncIterable<{ bytes: Uint8Array }>) => {
    let text = ''
    for await (const { bytes } of pieces) text += Buffer.from(bytes).toString()
    return text.trim().split(/\s+/).map(Number)
  }
  const reading = numbers(reeve.followOutput({ pid: plain.record.pid }))
  const watching = numbers(await reeve.attach({ pid: inTerminal.record.pid }))
  await reeve.wait({ pid: plain.record.pid, until: { text: '50' } })
  await first.kill()
  await temp.start()
  const all = Array.from({ length: 300 }, (_, index) => index + 1)
  expect(await reading).toEqual(all)
  expect(await watching).toEqual(all)
  expect((await ends).toSorted()).toEqual([plain.record.pid, inTerminal.record.pid].toSorted())
  await reeve.close()
})
