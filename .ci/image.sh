#!/bin/sh
# Write the root of the container image: Python, git without Perl, a shell, and UBP.
#
#     .ci/image.sh ROOT WHEEL [EXTRAS]
#
# It runs in Debian, as root: in the first stage of the Dockerfile, or anywhere to see what the image contains and how large it is.
# ROOT is empty before. EXTRAS are those of the package, such as `symbols` or `full,hub,symbols`.
set -eu
root=$1 wheel=$(realpath "$2") extras=${3:-symbols}

apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends \
  binutils busybox-static ca-certificates git media-types python3 python3-pip tzdata > /dev/null
case ,$extras, in
  *,hub,*)
    # psycopg is compiled against Debian's libpq: its wheel has OpenSSL and Kerberos once more.
    driver='psycopg[c]'
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends gcc libc6-dev libpq-dev python3-dev > /dev/null
    ;;
  *) driver= ;;
esac
version=$(python3 -c 'import sys; print("{}.{}".format(*sys.version_info))')
packages=$root/usr/local/lib/python$version/dist-packages

mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/sbin" "$root/etc" "$root/root" "$packages"
for name in bin lib lib64 sbin; do
  ln -s "usr/$name" "$root/$name"
done
mkdir -m 1777 "$root/tmp"

# Files and links of these packages, but no manuals, tests and examples, and no modules for terminals, sound, NIS and
# Berkeley's database, which need libraries of their own.
{
  dpkg -L base-files busybox-static media-types tzdata
  dpkg -L "libpython$version-minimal" "libpython$version-stdlib" "python$version-minimal" python3-minimal
  dpkg -L git | grep -E '/usr/share/git-core|/usr/bin/git$|git-core/(git|git-[a-z]*-pack|git-remote-https?|git-sh-setup|git-submodule)$'
} | grep -vE '^/usr/share/(doc|man|lintian|bug|zoneinfo/(posix|right))|/(ensurepip|idlelib|lib2to3|pydoc_data|test|tkinter|turtle.py|turtledemo|unittest|xmlrpc)(/|$)|/lib-dynload/(_curses|_dbm|_[a-z]*test|audioop|nis|ossaudio|readline|xx)' |
  while read -r path; do
    if [ -L "$path" ] || [ -f "$path" ]; then
      echo "$path"
    fi
  done | tar --create --no-recursion --files-from - 2> /dev/null | tar --extract --keep-directory-symlink --directory "$root"
cp -a /etc/ssl "$root/etc"
"$root/bin/busybox" --list | while read -r name; do
  [ -e "$root/usr/bin/$name" ] || ln -s busybox "$root/usr/bin/$name"
done
ln -sf busybox "$root/usr/bin/sh"
ln -sf ../../bin/git "$root/usr/lib/git-core/git"
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n' > "$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' > "$root/etc/group"
# Whoever mounts a repository into the container wants it read, whatever user it belongs to.
printf '[safe]\n\tdirectory = *\n' > "$root/etc/gitconfig"

CFLAGS=-g0 python3 -m pip install --quiet --no-cache-dir --no-compile --root-user-action ignore --target "$packages" \
  "${wheel}[$extras]" ${driver:+"$driver"}
# pip is required by sqlite-utils for a command of its own, pygments by rich for colours of source code, rich_rst by cyclopts for help
# in another format; hf_xet only speeds downloads up, and Debian has the time zones. Of numpy, arithmetic and matrices are used;
# pydantic/v1 is its former version.
(
  cd "$packages"
  rm -rf bin pip pip-* hf_xet hf_xet-* pydantic/v1 rich_rst rich_rst-* tzdata tzdata-*
  rm -rf numpy/distutils numpy/f2py numpy/fft numpy/ma numpy/polynomial numpy/random numpy/_core/_simd.*.so numpy/_core/*_tests.*.so
  if [ ! -d textual ]; then  # of the extra tui, which colours texts
    rm -rf pygments pygments-*
  fi
  if [ "$driver" ]; then
    rm -rf psycopg_binary psycopg_binary.libs psycopg_binary-*
  fi
)
printf '#!/usr/bin/python3 -I\nfrom ubp.__main__ import run\n\nrun()\n' > "$root/usr/bin/ubp"
chmod +x "$root/usr/bin/ubp"
# Neither tests nor type stubs, sources and headers of libraries are used; what every command imports is compiled.
find "$packages" -type d \( -name test -o -name tests -o -name include \) -prune -exec rm -rf {} +
find "$packages" -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.[ach]' \) -delete
# In wheels that bring libraries, auditwheel rewrote the headers, and `strip` destroys them: these bring none.
for name in cryptography psycopg_c rpds safetensors tokenizers yaml; do
  [ ! -d "$packages/$name" ] || find "$packages/$name" -name '*.so' -exec strip --strip-unneeded {} +
done
python3 -m compileall -q -s "$root" --invalidation-mode unchecked-hash "$packages/ubp" "$packages/cyclopts" "$packages/yaml"

# The libraries that these programs load.
find "$root" -type f \( -perm -u+x -o -name '*.so*' \) -exec ldd {} + 2> /dev/null |
  sed -nE 's/^(.*=>)?[[:space:]]+(\/[^ ]+) \(0x.*$/\2/p' | sort -u |
  while read -r path; do
    case $path in "$root"/*) continue ;; esac
    [ -e "$root$path" ] || install -D "$path" "$root$(readlink -f "$(dirname "$path")")/$(basename "$path")"
  done
