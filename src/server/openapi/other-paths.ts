const problem = { $ref: '#/components/responses/Problem' }
const text = { type: 'string' }
const pid = { name: 'pid', in: 'path', required: true, schema: text }
const header = (description: string) => ({ description, schema: text })

const streamParameters = [
  {
    name: 'offset',
    in: 'query',
    description:
      'where to begin: 16 digits as an earlier answer had them, -1 for the beginning, now for the end',
    schema: { type: 'string', pattern: '^(-1|now|[0-9]{16})$', default: '-1' },
  },
  {
    name: 'live',
    in: 'query',
    description: 'long-poll: held until there is something, 25 s at most; sse: events for 60 s',
    schema: { enum: ['long-poll', 'sse'] },
  },
  { name: 'cursor', in: 'query', description: 'the Stream-Cursor of the last live answer', schema: text },
  { name: 'If-None-Match', in: 'header', description: 'the ETag of an answer that is there', schema: text },
]

const streamHeaders = {
  'Stream-Next-Offset': header('where to go on'),
  'Stream-Up-To-Date': header('true: there is no more now'),
  'Stream-Closed': header('true: there will never be more'),
  'Stream-Cursor': header('to be sent with the next live request'),
  'Reeve-Outcome': header('with the page that closes the output of a command: its outcome, as JSON'),
}

function stream(operationId: string, summary: string, type: string, parameters: readonly object[]) {
  const schema =
    type === 'application/json'
      ? { type: 'array', items: { $ref: '#/components/schemas/StoredEvent' } }
      : { type: 'string', contentEncoding: 'binary' }
  return {
    get: {
      operationId,
      summary,
      parameters: [...parameters, ...streamParameters],
      responses: {
        200: {
          description: 'What lies from the offset on.',
          headers: { ...streamHeaders, ETag: header('of what lies between the two offsets') },
          content: { [type]: { schema }, 'text/event-stream': { schema: text } },
        },
        204: { description: 'Nothing came within the time, or nothing will.', headers: streamHeaders },
        304: { description: 'There is no more than the reader has.', headers: streamHeaders },
        default: problem,
      },
      'x-reeve-needs': 'read',
    },
    head: {
      operationId: `${operationId}Head`,
      summary: 'Where it ends now.',
      parameters: [...parameters],
      responses: { 200: { description: 'It is there.', headers: streamHeaders }, default: problem },
      'x-reeve-needs': 'read',
    },
  }
}

const json = (description: string) => ({
  description,
  content: { 'application/json': { schema: { type: 'object' } } },
})

function shows(name: string, description: string) {
  return { name, in: 'query', description, schema: { type: 'string', enum: ['true'] } }
}

const reveals = shows('reveal', 'show secrets; needs the role admin')

/** What is served beside the verbs. */
export const otherPaths: Readonly<Record<string, Record<string, unknown>>> = {
  '/v1/processes/{pid}/output/stream': stream(
    'outputStream',
    "A command's output as a durable stream of bytes.",
    'application/octet-stream',
    [pid, reveals, shows('terminal', 'as a terminal of your own shows it; with a token the same as reveal')],
  ),
  '/v1/processes/{pid}/events/stream': stream(
    'eventStream',
    'The events of a process as a durable stream.',
    'application/json',
    [pid, reveals],
  ),
  '/v1/changes/stream': stream(
    'changeStream',
    'The events of all processes as a durable stream.',
    'application/json',
    [
      {
        name: 'filter',
        in: 'query',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Filter' } } },
      },
      reveals,
    ],
  ),
  '/v1/inbox/stream': stream(
    'inboxStream',
    'What a scope is told, as a durable stream.',
    'application/json',
    [{ name: 'scope', in: 'query', required: true, schema: { type: 'string' } }],
  ),
  '/v1/processes/{pid}/terminal': {
    get: {
      operationId: 'terminal',
      summary: 'A live terminal, over a WebSocket.',
      description:
        'From the daemon: {"offset": n} first, then what is printed in binary frames; {"gap": {from, to}} where bytes are missing; {"refused": problem} for what could not be typed; {"ended": true} at the end. To the daemon: what is typed in binary frames, {"resize": {cols, rows}} as text.',
      parameters: [
        pid,
        { name: 'offset', in: 'query', schema: { type: 'integer' } },
        { name: 'scrollback', in: 'query', schema: { type: 'integer', default: 65_536 } },
      ],
      responses: { 101: { description: 'A WebSocket from here on.' }, default: problem },
      'x-reeve-needs': 'read',
    },
  },
  '/v1/openapi.json': {
    get: { operationId: 'openapi', summary: 'This document.', responses: { 200: json('OpenAPI 3.1.') } },
  },
  '/healthz': {
    get: {
      operationId: 'health',
      summary: 'Whether it lives.',
      security: [],
      responses: { 200: json('It does.') },
    },
  },
  '/readyz': {
    get: {
      operationId: 'readiness',
      summary: 'Whether it can work.',
      security: [],
      responses: { 200: json('It can.'), 503: json('It cannot, and which part is to blame.') },
    },
  },
  '/metrics': {
    get: {
      operationId: 'metrics',
      summary: 'What it counts, as Prometheus reads it.',
      responses: {
        200: { description: 'Metrics.', content: { 'text/plain': { schema: text } } },
        default: problem,
      },
    },
  },
}
