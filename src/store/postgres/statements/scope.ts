import type { Environment } from '../../../core/environment/environment.ts'
import type { Group } from '../../../core/group/group.ts'
import type { Json } from '../../../core/json/json.ts'
import type { Grant } from '../../../core/session/grant.ts'
import type { Session, Turn } from '../../../core/session/session.ts'
import type { Questions } from '../../contract.ts'
import type { Link } from '../link.ts'
import { bodies, versionedBodies } from './bodies.ts'

/** Sessions, turns, groups, grants and environments: small rows that are read and written whole. */
export function scopeStatements(link: Link, at: string) {
  return {
    sessionsOf: (ids: readonly string[]) =>
      versionedBodies<Session>(link, `select version, body from ${at}session where id = any ($1)`, [ids]),
    turnsOf: (sessions: readonly string[], ids: readonly string[]) =>
      versionedBodies<Turn>(
        link,
        `select version, body from unnest($1::text[], $2::text[]) as k (session, id)
          join ${at}turn t on t.session = k.session and t.id = k.id`,
        [sessions, ids],
      ),
    groupsOf: (ids: readonly string[]) =>
      versionedBodies<Group>(link, `select version, body from ${at}process_group where id = any ($1)`, [ids]),
    environmentsOf: async (refs: readonly string[]) =>
      (
        await link.query<{ ref: string; body: string }>(
          `select ref, body from ${at}environment where ref = any ($1)`,
          [refs],
        )
      ).map(({ ref, body }) => ({ ref, environment: JSON.parse(body) as Environment })),
    environments: async ({ usedBy, limit }: Questions['environments'][0]) =>
      (
        await link.query<{ ref: string }>(
          `select ref from ${at}environment_use where used_by = $1 order by id limit $2`,
          [usedBy, limit],
        )
      ).map(({ ref }) => ref),

    sessions: ({ parent, after, limit }: Questions['sessions'][0]) =>
      parent === undefined
        ? bodies<Session>(link, `select body from ${at}session where id > $1 order by id limit $2`, [
            after ?? '',
            limit,
          ])
        : bodies<Session>(
            link,
            `select body from ${at}session where parent = $1 and id > $2 order by id limit $3`,
            [parent, after ?? '', limit],
          ),
    async carrying(limit: number) {
      const [sessions, turns] = await Promise.all([
        bodies<Session>(link, `select body from ${at}session where carry order by id limit $1`, [limit]),
        bodies<Turn>(link, `select body from ${at}turn where carry order by session, id limit $1`, [limit]),
      ])
      return [...sessions.map((session) => ({ session })), ...turns.map((turn) => ({ turn }))]
    },
    async grants({ session, pid }: Questions['grants'][0]): Promise<Grant[]> {
      const terms = [
        ...(session === undefined ? [] : [{ column: 'session', value: session }]),
        ...(pid === undefined ? [] : [{ column: 'pid', value: pid }]),
      ]
      const where = terms.map(({ column }, index) => `${column} = $${index + 1}`).join(' and ')
      const found = await link.query<Omit<Grant, 'descriptor'> & { descriptor: string }>(
        `select session, pid, descriptor, at from ${at}visible where ${where || 'true'} order by session, pid`,
        terms.map(({ value }) => value),
      )
      return found.map((grant) => ({ ...grant, descriptor: JSON.parse(grant.descriptor) as Json }))
    },
  }
}
