import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { until } from '../keeper/client.ts'
import { textOf } from '../mcp/connected.ts'
import { clientAtDaemon } from '../mcp/daemon-client.ts'
import { NEEDS_MOUNT, testIf } from '../reporting/test-if.ts'
import { ask } from '../server/ask.ts'
import { canMount, SmallDisk } from '../small-disk.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'

const MiB = 1024 * 1024
const LINES = 400_000

testIf(canMount, NEEDS_MOUNT)(
  'on a full disk readers go on by HTTP and MCP, are told what is held back, and sessions can interrupt',
  async () => {
    const outside = tempFolder()
    const disk = new SmallDisk(tempFolder(), 24 * MiB)
    onTestFinished(() => disk.unmount())
    const temp = new TempReeve({ parent: disk.folder })
    const env = { REEVE_MIN_FREE_BYTES: '1', REEVE_OUTPUT_TAIL_BYTES: String(64 * MiB) }
    const daemon = await temp.up({ env, times: { renewMs: 500, ttlMs: 5_000 } })
    const { url, token } = daemon
    const { client } = await clientAtDaemon({ url: url ?? '', token, folder: outside, era: 'modern' })
    onTestFinished(() => client.close())
    const go = join(outside, 'go')
    const run = `echo begun; while [ ! -e ${go} ]; do sleep 0.05; done; seq 1 ${LINES}`
    await textOf(client, 'process_start', { run, name: 'prints', waitMs: 0 })
    await textOf(client, 'process_start', { run: 'exec sleep 1000', name: 'sleeps', waitMs: 0 })
    const [prints, sleeps] = (await daemon.reeve.list()).processes.map(({ record }) => record)
    if (prints === undefined || sleeps === undefined) throw new Error('Nothing was started')
    expect((await ask(daemon, 'GET /readyz')).json).toEqual({ status: 'ready', store: 'ok', keeper: 'ok' })

    disk.fill()
    writeFileSync(go, '')
    await until('output is held back', async () => (await daemon.reeve.show({ pid: prints.pid })).heldBack)
    const notReady = { status: 'not_ready', store: 'unwritable', keeper: 'ok' }
    await expect.poll(async () => (await ask(daemon, 'GET /readyz')).json).toEqual(notReady)
    // Twice: how far it has read is known, though the disk did not take it.
    const polls = [
      await textOf(client, 'process_poll', { pid: 'prints' }),
      await textOf(client, 'process_poll', { pid: 'prints' }),
    ]
    expect(polls[0]).toMatch(/^1\n2\n3$/m)
    expect(polls[1]).not.toMatch(/^1\n2\n3$/m)
    for (const text of polls) expect(text).toMatch(/held back since .* disk is full/)
    expect(await textOf(client, 'process_log', { pid: 'prints' })).toMatch(/\d/)
    expect(await textOf(client, 'process_kill', { pid: 'sleeps' })).toMatch(/^Ended, but not recorded yet/)
    expect(await textOf(client, 'interrupt', { pid: 'prints' })).toMatch(/^Stopped, but not recorded yet/)

    disk.makeRoom()
    for (const [{ pid }, reason] of [
      [sleeps, 'killed'],
      [prints, 'interrupted'],
    ] as const) {
      const waited = await daemon.reeve.wait({ pid, timeoutMs: 60_000 })
      expect(waited).toMatchObject({ type: 'ended', record: { outcome: { status: 'cancelled', reason } } })
    }
    await expect.poll(async () => (await ask(daemon, 'GET /readyz')).status).toBe(200)
  },
)
