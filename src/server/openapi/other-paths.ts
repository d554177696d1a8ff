const problem = { $ref: '#/components/responses/Problem' }
const text = { type: 'string' }
const pid = { name: 'pid', in: 'path', required: true, schema: text }
const header = (description: string) => ({ description, schema: text })

const streamParameters = [
  {
    name: 'offset',
    in: 'query',
    description: 'where to begin: 16 digits from an earlier answer, -1 for the beginning, now for the end',
    schema: { type: 'string', pattern: '^(-1|now|[0-9]{16})$', default: '-1' },
  },
  {
    name: 'live',
    in: 'query',
    description: 'long-poll: held until there is content, 25 s at most; sse: events for 60 s',
    schema: { enum: ['long-poll', 'sse'] },
  },
  { name: 'cursor', in: 'query', description: 'the Stream-Cursor of the last live answer', schema: text },
  {
    name: 'If-None-Match',
    in: 'header',
    description: 'the ETag of an answer that the reader has',
    schema: text,
  },
]

const streamHeaders = {
  'Stream-Next-Offset': header('the offset to continue from'),
  'Stream-Up-To-Date': header('true: there is no more content now'),
  'Stream-Closed': header('true: there will never be more content'),
  'Stream-Cursor': header('send it with the next live request'),
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
          description: 'The content from the offset on.',
          headers: { ...streamHeaders, ETag: header('of the content between the two offsets') },
          content: { [type]: { schema }, 'text/event-stream': { schema: text } },
        },
        204: { description: 'No content came within the time, or none will come.', headers: streamHeaders },
        304: { description: 'The reader has all content.', headers: streamHeaders },
        default: problem,
      },
      'x-reeve-needs': 'read',
    },
    head: {
      operationId: `${operationId}Head`,
      summary: 'The end of the stream now.',
      parameters: [...parameters],
      responses: { 200: { description: 'The stream exists.', headers: streamHeaders }, default: problem },
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

/** Paths besides the verbs. */
export const otherPaths: Readonly<Record<string, Record<string, unknown>>> = {
  '/v1/processes/{pid}/output/stream': stream(
    'outputStream',
    "A command's output as a durable stream of bytes.",
    'application/octet-stream',
    [
      pid,
      reveals,
      shows('terminal', 'unmasked, for a person at a terminal; with a token the same as reveal'),
    ],
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
    'The notices of a scope as a durable stream.',
    'application/json',
    [{ name: 'scope', in: 'query', required: true, schema: { type: 'string' } }],
  ),
  '/v1/processes/{pid}/terminal': {
    get: {
      operationId: 'terminal',
      summary: 'A live terminal, over a WebSocket.',
      description:
        'From the daemon: {"offset": n} first, then output in binary frames; {"gap": {from, to}} where bytes are missing; {"refused": problem} for input that was refused; {"ended": true} at the end. To the daemon: input in binary frames, {"resize": {cols, rows}} as text.',
      parameters: [
        pid,
        { name: 'offset', in: 'query', schema: { type: 'integer' } },
        { name: 'scrollback', in: 'query', schema: { type: 'integer', default: 65_536 } },
      ],
      responses: { 101: { description: 'Switches to a WebSocket.' }, default: problem },
      'x-reeve-needs': 'read',
    },
  },
  '/v1/openapi.json': {
    get: { operationId: 'openapi', summary: 'This document.', responses: { 200: json('OpenAPI 3.1.') } },
  },
  '/healthz': {
    get: {
      operationId: 'health',
      summary: 'Whether the daemon is alive.',
      security: [],
      responses: { 200: json('It is alive.') },
    },
  },
  '/readyz': {
    get: {
      operationId: 'readiness',
      summary: 'Whether the daemon is ready.',
      security: [],
      responses: { 200: json('It is ready.'), 503: json('It is not ready; the parts say why.') },
    },
  },
  '/metrics': {
    get: {
      operationId: 'metrics',
      summary: 'Metrics in the format of Prometheus.',
      responses: {
        200: { description: 'Metrics.', content: { 'text/plain': { schema: text } } },
        default: problem,
      },
    },
  },
}
