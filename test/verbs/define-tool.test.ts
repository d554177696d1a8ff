import { defineTool, embed, type Json, type StandardSchema } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { tempStore } from '../temp-folder.ts'

const weather = defineTool({
  name: 'weather',
  description: 'The weather of a city now.',
  input: z.object({ city: z.string().min(1), days: z.number().int().default(1) }),
  output: z.object({ city: z.string(), celsius: z.number() }),
  run: ({ city, days }) => ({ city, celsius: city === 'Nowhere' ? (Number.NaN as number) : 20 + days }),
})

async function serving(tools: Parameters<typeof embed>[0]['tools']) {
  const reeve = await embed({ store: tempStore(), ...(tools === undefined ? {} : { tools }) })
  onTestFinished(() => reeve.close())
  const call = async (tool: string, input: Json) => {
    const { record } = await reeve.spawn({ kind: 'tool', spec: { tool, input } })
    const ended = await reeve.wait({ pid: record.pid })
    return ended.type === 'ended' ? ended.record.outcome : ended.type
  }
  return { reeve, call }
}

test('the input of a tool is checked before it runs, with its defaults filled in', async () => {
  const { call } = await serving([weather])
  expect(await call('weather', { city: 'Bern' })).toMatchObject({
    status: 'completed',
    result: { city: 'Bern', celsius: 21 },
  })
  expect(await call('weather', { city: 7 })).toMatchObject({
    status: 'failed',
    reason: expect.stringMatching(/^The input of weather does not fit its schema: city: /),
    result: { code: 'invalid_input' },
  })
})

test('a result that does not fit the output schema is a failure', async () => {
  const { call } = await serving({ weather })
  expect(await call('weather', { city: 'Nowhere' })).toMatchObject({
    status: 'failed',
    reason: expect.stringMatching(/^The result of weather does not fit its schema: celsius: /),
  })
})

test('tools that are served now are listed with their declarations', async () => {
  const { reeve } = await serving({ weather, plain: () => 1 })
  expect(await reeve.tools()).toEqual({
    tools: [
      { name: 'plain', workers: 1, declaration: null },
      {
        name: 'weather',
        workers: 1,
        declaration: {
          description: 'The weather of a city now.',
          recovery: 'bound',
          inputSchema: expect.objectContaining({
            type: 'object',
            required: ['city'],
            properties: expect.objectContaining({ city: { type: 'string', minLength: 1 } }),
          }),
        },
      },
    ],
  })
})

test('a tool may be added while the kernel runs, once', async () => {
  const { reeve, call } = await serving(undefined)
  await reeve.tool(weather)
  expect(await call('weather', { city: 'Oslo', days: 3 })).toMatchObject({ result: { celsius: 23 } })
  await expect(reeve.tool(weather)).rejects.toMatchObject({ code: 'conflict' })
})

test('a defined tool is served under its own name', async () => {
  await expect(embed({ store: tempStore(), tools: { wind: weather } })).rejects.toMatchObject({
    code: 'invalid_input',
    message: 'The tool weather cannot be served as wind.',
  })
})

/** A schema of an unknown library. */
function strange(extra: object): StandardSchema<{ n: number }> {
  const validate = (value: unknown) =>
    typeof Object(value).n === 'number'
      ? { value: value as { n: number } }
      : { issues: [{ message: 'must be a number', path: ['n'] }] }
  return { '~standard': { version: 1, vendor: 'strange', validate, ...extra } }
}

const definition = { name: 'double', description: 'Doubles n.', run: ({ n }: { n: number }) => n * 2 }
const N_SCHEMA = { type: 'object', properties: { n: { type: 'number' } } }

test('a schema of any library with Standard Schema works: the JSON Schema comes from its extension or from you', async () => {
  const jsonSchema = {
    input: ({ target }: { target: string }) => ({ $schema: target, ...N_SCHEMA }),
    output: () => ({}),
  }
  const extended = defineTool({ ...definition, input: strange({ jsonSchema }) })
  expect(extended.inputSchema).toEqual(N_SCHEMA)
  const given = defineTool({ ...definition, name: 'own', input: strange({}), inputJsonSchema: N_SCHEMA })
  expect(given.inputSchema).toEqual(N_SCHEMA)
  const { call } = await serving([extended])
  expect(await call('double', { n: 21 })).toMatchObject({ status: 'completed', result: 42 })
  expect(await call('double', {})).toMatchObject({
    reason: 'The input of double does not fit its schema: n: must be a number',
  })
})

test.each([
  [
    'a schema without a JSON Schema',
    () => defineTool({ ...definition, input: strange({}) }),
    /strange, which provides no JSON Schema/,
  ],
  [
    'a schema that JSON Schema cannot express',
    () => defineTool({ ...definition, input: z.object({ n: z.bigint() }) as never }),
    /has no JSON Schema/,
  ],
  [
    'an input that is not an object',
    () => defineTool({ name: 'a', description: 'b', input: z.string(), run: () => 1 }),
    /is not an object/,
  ],
  [
    'a name that providers refuse',
    () => defineTool({ ...definition, name: 'get weather', input: z.object({ n: z.number() }) }),
    /no name of a tool/,
  ],
  [
    'a missing description',
    () => defineTool({ ...definition, description: ' ', input: z.object({ n: z.number() }) }),
    /no description/,
  ],
])('%s is refused when the tool is defined', (_, define, message) => {
  expect(define).toThrow(
    expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(message) }),
  )
})
