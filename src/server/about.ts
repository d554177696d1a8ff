import type { Hono } from 'hono'
import type { Env } from './app.ts'
import { demandWhole } from './caller.ts'
import type { Metrics } from './metrics.ts'
import type { Served } from './served.ts'

/** The routes about the server itself: the OpenAPI document and the metrics. */
export function addAbout(app: Hono<Env>, reeve: Served, metrics: Metrics, version: string): void {
  let document: string | undefined
  app.get('/v1/openapi.json', async (context) => {
    // Loaded on demand: most daemons are never asked for it, and all of them must start fast.
    const { openApiDocument } = await import('./openapi/document.ts')
    document ??= JSON.stringify(openApiDocument(version))
    return context.body(document, 200, { 'Content-Type': 'application/json' })
  })
  app.get('/metrics', async (context) => {
    demandWhole(context.get('caller'), 'read')
    const text = await metrics.text(reeve)
    return context.body(text, 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' })
  })
}
