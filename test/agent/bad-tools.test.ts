import { existsSync, rmSync } from 'node:fs'
import { defineTool, type ToolDefinition } from 'reeve'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type StrictAnswer, strictProvider } from '../model/strict-provider.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

interface Running {
  readonly abortSignal: AbortSignal
}

function define(name: string, run: (context: Running) => string | Promise<string>): ToolDefinition {
  return defineTool({ name, description: name, input: z.object({}), run: (_, context) => run(context) })
}

/** An agent that plays these answers over a provider that refuses prompts which are not in order. */
async function agentThat(
  answers: readonly StrictAnswer[],
  tools: readonly ToolDefinition[],
  before: (workspace: string) => void = () => undefined,
) {
  const provider = await strictProvider((messages) => {
    const place = messages.filter(({ role }) => role === 'assistant').length
    return answers[place] ?? { text: 'fine' }
  })
  const { reeve, workspace } = await scriptedAgents({
    tools,
    modelOptions: { providers: { strict: { type: 'openai-compatible', baseURL: `${provider.url}/v1` } } },
  })
  before(workspace)
  const spec = { agent: 'helper', model: 'strict/m', goal: 'go' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
  const { pid } = record
  const results = async () =>
    (await payloads(reeve, pid, 'tool_answered')).map(({ isError, parts }) => [
      isError,
      Array.isArray(parts) ? String(Object(parts[0]).text) : '',
    ])
  /** The turn finished, and so does the next one: the provider has accepted every prompt. */
  const staysValid = async () => {
    expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
      turn: { reason: 'finished', result: 'fine' },
    })
    await reeve.runAgent({ pid, text: 'again' })
    expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished' } })
    expect(provider.complaints).toEqual([])
  }
  return { reeve, pid, workspace, results, staysValid }
}

const call = (name: string, input: object = {}) => ({ id: `call-${name}`, name, text: JSON.stringify(input) })

test('a tool that throws is an error result, and the session stays valid', async () => {
  const throws = define('throws', () => {
    throw new Error('The printer is on fire.')
  })
  const { results, staysValid } = await agentThat([{ calls: [call('throws')] }], [throws])
  await staysValid()
  expect(await results()).toEqual([[true, expect.stringContaining('The printer is on fire.')]])
})

test('a tool that hangs is interrupted by its tool call, and the session stays valid', async () => {
  const called = Promise.withResolvers<void>()
  const hangs = define('hangs', ({ abortSignal }) => {
    called.resolve()
    return new Promise<never>((_, reject) => {
      abortSignal.addEventListener('abort', () => reject(abortSignal.reason))
    })
  })
  const { reeve, pid, results, staysValid } = await agentThat([{ calls: [call('hangs')] }], [hangs])
  await called.promise
  await reeve.interrupt({ scope: { toolCall: `${pid}.1.1.0` } })
  await staysValid()
  expect(await results()).toEqual([[true, expect.stringContaining('its effect is unverified')]])
})

test('a tool that floods is shown in part or refused, and the session stays valid', async () => {
  const lines = define('lines', () => 'a line\n'.repeat(100_000))
  const huge = define('huge', () => 'x'.repeat(20_000_000))
  const { results, staysValid } = await agentThat(
    [{ calls: [call('lines')] }, { calls: [call('huge')] }],
    [lines, huge],
  )
  await staysValid()
  const [shown, refused] = await results()
  expect(shown).toEqual([false, expect.stringContaining('read_result')])
  expect(String(shown?.[1]).length).toBeLessThan(20_000)
  expect(refused?.[0]).toBe(true)
  expect(String(refused?.[1]).length).toBeLessThan(20_000)
})

test('a workspace that vanishes is an error of each call, is not made anew, and the session stays valid', async () => {
  const vanished: { folder?: string } = {}
  const gone = define('vanish', () => {
    rmSync(String(vanished.folder), { recursive: true })
    return 'gone'
  })
  const after = [
    call('list_files'),
    call('read_file', { path: 'a.txt' }),
    call('search_files', { text: 'x' }),
    call('write_file', { path: 'a.txt', content: 'x' }),
  ]
  const { workspace, results, staysValid } = await agentThat(
    [{ calls: [call('vanish')] }, { calls: after }],
    [gone],
    (folder) => {
      vanished.folder = folder
    },
  )
  await staysValid()
  const error = [true, `The workspace ${workspace} is not there any more. Tell the person, and stop.`]
  expect(await results()).toEqual([[false, 'gone'], error, error, error, error])
  expect(existsSync(workspace)).toBe(false)
})
