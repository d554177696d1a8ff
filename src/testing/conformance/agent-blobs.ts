import assert from 'node:assert/strict'
import type { AgentAct } from '../../core/agent/act.ts'
import type { BlobRef } from '../../core/blob/blob.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import { writeWithBlobs } from '../../kernel/blobs.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { type Behaves, pidOf } from './bench.ts'
import { bytesOf, hashOf, put } from './blobs.ts'
import { snapshotOf } from './sound.ts'

const AGENT: RegistrationRequest = { kind: 'agent', spec: { agent: 'coder', model: 'scripted/demo' } }

/** Entries of the session log of an agent refer to the blobs in their parts. */
export function agentBlobs(behaves: Behaves): void {
  const pid = pidOf('a')

  behaves('an input is admitted only with the blobs in its parts, which then stay', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await bench.register(AGENT, { pid })
    const picture = bytesOf('a picture')
    const input = { type: 'run', id: 'one', mode: 'run', parts: [refTo(picture)] } as const
    const before = await snapshotOf(bench.store)
    await assert.rejects(kernel.agents.request(pid, 'host', input), {
      code: 'blob_missing',
      details: { hashes: [hashOf(picture)] },
    })
    assert.deepEqual(await snapshotOf(bench.store), before)
    const contents = [{ hash: hashOf(picture), bytes: picture }]
    const admit = () => kernel.agents.request(pid, 'host', input)
    const answer = await writeWithBlobs(bench.edges, contents, admit)
    assert.equal(answer.type, 'started')
    assert.equal(await bench.store.blobs.sweep(0), 0)
    assert.deepEqual(await bench.store.blobs.get(hashOf(picture)), picture)
  })

  behaves('answers and results of tools refer to the blobs in their parts', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k1', serves: [] })
    await bench.register(AGENT, { pid })
    const text = [{ type: 'text', text: 'go' }]
    await kernel.agents.request(pid, 'host', { type: 'run', id: 'one', mode: 'run', parts: text })
    const [said, argument, found] = [bytesOf('said'), bytesOf('an argument'), bytesOf('found')]
    for (const bytes of [said, argument, found]) await put(bench.store, bytes)
    await claimAndStart(bench.edges, [pid], 'h1')
    const { fence } = await bench.row(pid)
    const act = (one: AgentAct) =>
      bench.performed('appended', { type: 'agent_act', pid, act: one, fence: { holder: 'h1', fence } })
    const model = 'scripted/demo'
    await act({ type: 'begin_call', turn: 1, call: 1, model })
    await act({
      type: 'record_answer',
      turn: 1,
      call: 1,
      model,
      items: [
        { type: 'item', parts: [refTo(said)] },
        { type: 'tool_call', callId: 'c', tool: 'read', parts: [refTo(argument)] },
      ],
    })
    await act({ type: 'record_result', turn: 1, call: 1, index: 0, parts: [refTo(found)], isError: false })
    assert.equal(await bench.store.blobs.sweep(0), 0)
  })
}

function refTo(bytes: Uint8Array) {
  return {
    type: 'blob',
    hash: hashOf(bytes),
    bytes: bytes.length,
    mediaType: 'image/png',
  } as const satisfies BlobRef
}
