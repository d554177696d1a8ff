import type { Hono } from 'hono'
import type { AppParts, Env } from '../app.ts'

export function addStreams(_app: Hono<Env>, _parts: AppParts): void {}
