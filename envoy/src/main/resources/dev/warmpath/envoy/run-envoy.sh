# Runs a command ($2 ...) that must not outlive the process at the other end of standard input; its output goes to file $1.
# Prints the command's process id, then waits for it.
log=$1
shift
ulimit -n "$(ulimit -Hn)" 2>/dev/null
exec 3<&0
"$@" </dev/null >>"$log" 2>&1 3<&- &
child=$!
echo "$child"
# Ends the command when standard input ends, that is when the parent is gone.
(
  while read -r _ <&3; do :; done
  kill -TERM "$child"
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.3
    kill -0 "$child" || exit 0
  done
  kill -KILL "$child"
) >/dev/null 2>&1 &
guard=$!
exec 3<&- >/dev/null
trap 'kill -TERM "$child"' TERM INT HUP
while :; do
  wait "$child"
  status=$?
  kill -0 "$child" 2>/dev/null || break
done
kill "$guard" 2>/dev/null
exit "$status"
