/** A server in the words of the protocol, without the SDK: it misbehaves as its arguments say. */
import { appendFileSync, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [folder = '.', ...ways] = process.argv.slice(2)

const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (id: unknown, words: string) => say({ id, result: { content: [{ type: 'text', text: words }] } })
const until = (file: string, then: () => void) => {
  if (existsSync(file)) then()
  else setTimeout(until, 10, file, then)
}

const TOOLS = [
  'wait',
  'work',
  'die',
  'hang',
  'double',
  'late',
  'huge',
  'enormous',
  'flood',
  'ask',
  'odd name/ü*',
]

const calls: Record<string, (id: unknown, input: Record<string, unknown>) => void> = {
  // Answers when the file is there, and counts how often it was called.
  wait: (id, { file }) =>
    until(String(file), () => {
      text(id, 'waited')
      appendFileSync(`${folder}/heard`, 'answered wait\n')
    }),
  work: (id) => text(id, 'worked'),
  die: () => {
    process.stderr.write('out of luck\n')
    process.exit(3)
  },
  hang: () => {},
  double: (id) => {
    text(id, 'first')
    text(id, 'second')
  },
  late: (id) => setTimeout(text, 3_500, id, 'late'),
  huge: (id) => text(id, 'x'.repeat(5_000_000)),
  enormous: (id) => text(id, 'x'.repeat(25_000_000)),
  flood: (id) => {
    for (let line = 0; line < 20_000; line++) process.stdout.write(`noise ${line}\n`)
    for (let line = 0; line < 2_000; line++) process.stderr.write(`noise ${line}\n`)
    text(id, 'flooded')
  },
  ask: (id) => {
    waiting.set('q1', id)
    say({
      id: 'q1',
      method: 'elicitation/create',
      params: {
        message: 'Which colour?',
        requestedSchema: {
          type: 'object',
          properties: { colour: { type: 'string', enum: ['red', 'blue'] }, count: { type: 'integer' } },
        },
      },
    })
  },
  'odd name/ü*': (id) => text(id, 'odd'),
}
const waiting = new Map<unknown, unknown>()

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line)
  appendFileSync(`${folder}/heard`, `${line}\n`)
  if (method === undefined) {
    if (waiting.has(id)) text(waiting.get(id), JSON.stringify(result ?? error))
    return
  }
  if (method === 'initialize') {
    if (ways.includes('garbage')) process.stdout.write('Welcome!\n{"half": \n[1,2]\n\n')
    if (ways.includes('requests')) say({ id: 'r1', method: 'sampling/createMessage', params: {} })
    const { protocolVersion } = params
    say({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'rough', version: '1' } },
    })
  } else if (method === 'server/discover') {
    if (ways.includes('strict')) process.exit(1)
    if (!ways.includes('silent')) say({ id, error: { code: -32_601, message: 'unknown' } })
  } else if (method === 'tools/list') {
    const from = Number(params.cursor ?? 0)
    const tools = TOOLS.slice(from, from + 4).map((name) => ({ name, inputSchema: { type: 'object' } }))
    const broken = from === 0 ? [{ name: '' }, { name: 'no-schema' }] : []
    const next = from + 4 < TOOLS.length ? { nextCursor: String(from + 4) } : {}
    say({ id, result: { tools: [...tools, ...broken], ...next } })
  } else if (method === 'tools/call') {
    appendFileSync(`${folder}/calls`, `${params.name}\n`)
    calls[params.name]?.(id, params.arguments)
  }
})
