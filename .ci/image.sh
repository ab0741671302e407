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
  busybox-static ca-certificates git media-types python3 python3-pip tzdata > /dev/null
version=$(python3 -c 'import sys; print("{}.{}".format(*sys.version_info))')
packages=$root/usr/local/lib/python$version/dist-packages

mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/sbin" "$root/etc" "$root/root" "$packages"
for name in bin lib lib64 sbin; do
  ln -s "usr/$name" "$root/$name"
done
mkdir -m 1777 "$root/tmp"

# Files and links of these packages, but not their manuals.
{
  dpkg -L base-files busybox-static media-types tzdata
  dpkg -L "libpython$version-minimal" "libpython$version-stdlib" "python$version-minimal" python3-minimal
  dpkg -L git | grep -E '/usr/share/git-core|/usr/bin/git$|git-core/(git|git-[a-z]*-pack|git-remote-https?|git-sh-setup|git-submodule)$'
} | grep -vE '^/usr/share/(doc|man|lintian|bug|zoneinfo/(posix|right))|/(ensurepip|idlelib|lib2to3|tkinter)(/|$)' |
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

python3 -m pip install --quiet --no-cache-dir --no-compile --root-user-action ignore --target "$packages" "${wheel}[$extras]"
# pip is required by sqlite-utils for a command of its own, hf_xet only speeds downloads up.
rm -rf "${packages:?}/bin" "$packages/pip" "$packages/hf_xet"
printf '#!/usr/bin/python3 -I\nfrom ubp.__main__ import run\n\nrun()\n' > "$root/usr/bin/ubp"
chmod +x "$root/usr/bin/ubp"
# Neither tests nor headers of libraries are used; what every command imports is compiled.
find "$packages" -type d \( -name tests -o -name include \) -prune -exec rm -rf {} +
python3 -m compileall -q -s "$root" --invalidation-mode unchecked-hash "$packages/ubp" "$packages/cyclopts" "$packages/yaml"

# The libraries that these programs load.
find "$root" -type f \( -perm -u+x -o -name '*.so*' \) -exec ldd {} + 2> /dev/null |
  sed -nE 's/^(.*=>)?[[:space:]]+(\/[^ ]+) \(0x.*$/\2/p' | sort -u |
  while read -r path; do
    case $path in "$root"/*) continue ;; esac
    [ -e "$root$path" ] || install -D "$path" "$root$(readlink -f "$(dirname "$path")")/$(basename "$path")"
  done
