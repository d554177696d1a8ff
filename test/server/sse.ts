import { get, type IncomingHttpHeaders } from 'node:http'

export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** Reads server-sent events until the answer ends, or `enough` says so. */
export function readEvents(
  daemon: { readonly home: { readonly socket: string } },
  path: string,
  enough: (events: readonly ServerEvent[]) => boolean = () => false,
): Promise<{ headers: IncomingHttpHeaders; events: ServerEvent[] }> {
  return new Promise((resolve, reject) => {
    const asked = get({ socketPath: daemon.home.socket, path, agent: false }, (response) => {
      let text = ''
      const events: ServerEvent[] = []
      const done = () => resolve({ headers: response.headers, events })
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        const whole = text.split('\n\n')
        text = whole.pop() ?? ''
        events.push(...whole.map(eventIn))
        if (!enough(events)) return
        asked.destroy()
        done()
      })
      response.on('end', done)
      response.on('error', done)
    })
    asked.on('error', reject)
  })
}

function eventIn(text: string): ServerEvent {
  const [, event = '', data = ''] = /^event: (.*)\ndata:(.*)$/s.exec(text) ?? []
  if (event === '') throw new Error(`No event: ${JSON.stringify(text)}`)
  return { event, data }
}
