import type { DatabaseSync } from 'node:sqlite'
import type { Environment } from '../../../core/environment/environment.ts'
import type { Group } from '../../../core/group/group.ts'
import type { Json } from '../../../core/json/json.ts'
import type { Grant } from '../../../core/session/grant.ts'
import { parentSessionOf, type Session, type Turn } from '../../../core/session/session.ts'
import type { Questions } from '../../contract.ts'

/** Sessions, turns, groups, grants and environments: small rows that are read and written whole. */
export function scopeStatements(db: DatabaseSync) {
  const session = db.prepare('select body from session where id = ?')
  const sessions = db.prepare('select body from session where id > ? order by id limit ?')
  const children = db.prepare('select body from session where parent = ? and id > ? order by id limit ?')
  const putSession = db.prepare(
    'insert into session (id, carry, body, parent) values (?, ?, ?, ?) on conflict (id) do update set carry = excluded.carry, body = excluded.body',
  )
  const turn = db.prepare('select body from turn where session = ? and id = ?')
  const putTurn = db.prepare(
    'insert into turn values (?, ?, ?, ?) on conflict (session, id) do update set carry = excluded.carry, body = excluded.body',
  )
  const carryingSessions = db.prepare('select body from session where carry = 1 limit ?')
  const carryingTurns = db.prepare('select body from turn where carry = 1 limit ?')
  const group = db.prepare('select body from process_group where id = ?')
  const putGroup = db.prepare(
    'insert into process_group values (?, ?) on conflict (id) do update set body = excluded.body',
  )
  const dropGroup = db.prepare('delete from process_group where id = ?')
  const dropSession = db.prepare('delete from session where id = ?')
  const dropTurns = db.prepare('delete from turn where session = ?')
  const environment = db.prepare('select body from environment where ref = ?')
  const putEnvironment = db.prepare('insert into environment values (?, ?) on conflict (ref) do nothing')
  const environments = db.prepare('select ref from environment_use where used_by = ? order by id limit ?')
  const useEnvironment = db.prepare(
    'insert into environment_use (used_by, ref) values (?, ?) on conflict (used_by, ref) do nothing',
  )
  const endUse = db.prepare('delete from environment_use where used_by = ? and ref = ?')
  const dropUnused = db.prepare(
    'delete from environment where ref = ?1 and not exists (select 1 from environment_use where ref = ?1)',
  )
  const environmentsOf = (usedBy: string, limit: number) =>
    environments.all(usedBy, limit).map(({ ref }) => String(ref))
  const endUseOf = (usedBy: string, ref: string) => {
    if (endUse.run(usedBy, ref).changes > 0) dropUnused.run(ref)
  }
  const grants = db.prepare(`select session, pid, descriptor, at from visible
    where (session = ?1 or ?1 is null) and (pid = ?2 or ?2 is null) order by session, pid`)
  const putGrant = db.prepare(
    'insert into visible values (?, ?, ?, ?) on conflict (session, pid) do update set descriptor = excluded.descriptor',
  )
  const revoke = db.prepare('delete from visible where session = ? and pid = ?')

  return {
    session: (id: string) => body<Session>(session.get(id)),
    sessions: ({ parent, after, limit }: Questions['sessions'][0]) =>
      bodies<Session>(
        parent === undefined ? sessions.all(after ?? '', limit) : children.all(parent, after ?? '', limit),
      ),
    putSession: (value: Session) =>
      putSession.run(value.id, Number(value.carry), JSON.stringify(value), parentSessionOf(value)),
    turn: (inSession: string, id: string) => body<Turn>(turn.get(inSession, id)),
    putTurn: (value: Turn) =>
      putTurn.run(value.session, value.id, Number(value.carry), JSON.stringify(value)),
    carrying: (limit: number) => [
      ...bodies<Session>(carryingSessions.all(limit)).map((value) => ({ session: value })),
      ...bodies<Turn>(carryingTurns.all(limit)).map((value) => ({ turn: value })),
    ],
    group: (id: string) => body<Group>(group.get(id)),
    putGroup: (value: Group) => putGroup.run(value.id, JSON.stringify(value)),
    dropGroup: (id: string) => dropGroup.run(id),
    dropSession: (id: string) => {
      for (const ref of environmentsOf(`session:${id}`, -1)) endUseOf(`session:${id}`, ref)
      dropTurns.run(id)
      dropSession.run(id)
    },
    environment: (ref: string) => body<Environment>(environment.get(ref)),
    putEnvironment: (ref: string, value: Environment) => putEnvironment.run(ref, JSON.stringify(value)),
    environments: ({ usedBy, limit }: Questions['environments'][0]) => environmentsOf(usedBy, limit),
    useEnvironment: (usedBy: string, ref: string) => useEnvironment.run(usedBy, ref),
    endUse: endUseOf,
    grants: (question: Questions['grants'][0]): Grant[] =>
      grants.all(question.session ?? null, question.pid ?? null).map((found) => ({
        session: String(found['session']),
        pid: String(found['pid']),
        descriptor: JSON.parse(String(found['descriptor'])) as Json,
        at: Number(found['at']),
      })),
    putGrant: (value: Grant) =>
      putGrant.run(value.session, value.pid, JSON.stringify(value.descriptor), value.at),
    revoke: (inSession: string, pid: string) => revoke.run(inSession, pid),
  }
}

function body<Thing>(found: Record<string, unknown> | undefined): Thing | null {
  return found === undefined ? null : (JSON.parse(String(found['body'])) as Thing)
}

function bodies<Thing>(found: readonly Record<string, unknown>[]): Thing[] {
  return found.map((row) => JSON.parse(String(row['body'])) as Thing)
}
