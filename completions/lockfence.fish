# Completion of lockfence for fish, printed by "lockfence --dump=fish".
function __lockfence_operands
    set -l words (commandline -opc)
    set -l skips 0
    for word in $words[2..]
        if test $skips = 1
            set skips 0
        else if contains -- $word -t --token --grant -k --key --size -t --token --grant -k --key --guard --content-type --header --stamp --stamp-line --endpoint --region --profile --style -t --token --grant -k --key --endpoint --region --profile --style -t --token --grant -k --key --endpoint --region --profile --style --endpoint --region --profile --style --endpoint --region --profile --style -m --margin --write --verify --refused-status --refused-text -k --key --ttl --class --store --limit --points --junit
            set skips 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end
function __lockfence_is
    set -l words (__lockfence_operands)
    set -l group $argv[2]
    set -l command "$words[1]"
    if contains -- "$command" file s3; and set -q words[2]
        set command "$words[1] $words[2]"
    end
    test "$command" = "$argv[1]"
end
complete -c lockfence -f
complete -c lockfence -n "__lockfence_is ''" -a file -d 'More commands of this kind'
complete -c lockfence -n "__lockfence_is 'file'" -a write -d 'Replace a file by standard input, if the token is current'
complete -c lockfence -n "__lockfence_is 'file write'" -s t -l token -x -d 'The fencing token (default: LOCK_TOKEN, which lockrun sets)'
complete -c lockfence -n "__lockfence_is 'file write'" -l grant -x -d 'The id of the grant (default: LOCK_SESSION, when the token is LOCK_TOKEN)'
complete -c lockfence -n "__lockfence_is 'file write'" -s k -l key -x -d 'The key that the token was granted for (default: LOCK_KEY)'
complete -c lockfence -n "__lockfence_is 'file write'" -l strict -d 'One write per grant: refuse an equal token as well'
complete -c lockfence -n "__lockfence_is 'file write'" -s a -l append -d 'Put standard input behind what the file holds'
complete -c lockfence -n "__lockfence_is 'file write'" -l size -x -d 'Change nothing unless the input has exactly so many bytes: the end of a pipe does not tell whether its writer had finished'
complete -c lockfence -n "__lockfence_is 'file write'" -l rekey -d 'The file moves to another key: accept a token of this one'
complete -c lockfence -n "__lockfence_is 'file write'" -l force -d 'Write on a network or FUSE file system too, where neither locks nor renames are certain'
complete -c lockfence -n "__lockfence_is 'file write'" -F
complete -c lockfence -n "__lockfence_is 'file'" -a status -d 'Show the mark of a file'
complete -c lockfence -n "__lockfence_is 'file status'" -l json -d 'Print one JSON object'
complete -c lockfence -n "__lockfence_is 'file status'" -F
complete -c lockfence -n "__lockfence_is ''" -a s3 -d 'More commands of this kind'
complete -c lockfence -n "__lockfence_is 's3'" -a put -d 'Write an object of an S3 store, if the token is current'
complete -c lockfence -n "__lockfence_is 's3 put'" -s t -l token -x -d 'The fencing token (default: LOCK_TOKEN, which lockrun sets)'
complete -c lockfence -n "__lockfence_is 's3 put'" -l grant -x -d 'The id of the grant (default: LOCK_SESSION, when the token is LOCK_TOKEN)'
complete -c lockfence -n "__lockfence_is 's3 put'" -s k -l key -x -d 'The key that the token was granted for (default: LOCK_KEY)'
complete -c lockfence -n "__lockfence_is 's3 put'" -l strict -d 'One write per grant: refuse an equal token as well'
complete -c lockfence -n "__lockfence_is 's3 put'" -l adopt -d 'Take an object without a mark under the fence, once'
complete -c lockfence -n "__lockfence_is 's3 put'" -l rekey -d 'The object moves to another key: accept a token of this one'
complete -c lockfence -n "__lockfence_is 's3 put'" -l guard -x -d 'Raise the mark of this guard object first, and write only if it took the token'
complete -c lockfence -n "__lockfence_is 's3 put'" -l content-type -x -d 'The object\'s media type'
complete -c lockfence -n "__lockfence_is 's3 put'" -l header -x -d 'One more header of the object, as Cache-Control=no-cache or x-amz-meta-build=17'
complete -c lockfence -n "__lockfence_is 's3 put'" -l stamp -x -a 'gzip zstd' -d 'Put token and grant behind the bytes, so that no two puts have one ETag: gzip or zstd, in a form that their readers pass over'
complete -c lockfence -n "__lockfence_is 's3 put'" -l stamp-line -x -d 'The same as a line of text behind PREFIX, as "# "'
complete -c lockfence -n "__lockfence_is 's3 put'" -l endpoint -x -d 'The store (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile\'s endpoint_url, then AWS)'
complete -c lockfence -n "__lockfence_is 's3 put'" -l region -x -d 'The region (default: AWS_REGION, AWS_DEFAULT_REGION, the profile\'s, then us-east-1)'
complete -c lockfence -n "__lockfence_is 's3 put'" -l profile -x -d 'The profile in the files of the aws tools (default: AWS_PROFILE)'
complete -c lockfence -n "__lockfence_is 's3 put'" -l style -x -a 'auto path virtual' -d 'Where the bucket\'s name goes: virtual, in the host\'s name; path; auto, the default, is virtual at AWS and path elsewhere'
complete -c lockfence -n "__lockfence_is 's3 put'" -l json -d 'Print one JSON object'
complete -c lockfence -n "__lockfence_is 's3 put'" -s q -l quiet -d 'Say nothing where the exit status tells it all'
complete -c lockfence -n "__lockfence_is 's3 put'" -F
complete -c lockfence -n "__lockfence_is 's3'" -a get -d 'Read an object; with a token, only if no newer holder wrote it'
complete -c lockfence -n "__lockfence_is 's3 get'" -s t -l token -x -d 'The fencing token (default: LOCK_TOKEN, which lockrun sets)'
complete -c lockfence -n "__lockfence_is 's3 get'" -l grant -x -d 'The id of the grant (default: LOCK_SESSION, when the token is LOCK_TOKEN)'
complete -c lockfence -n "__lockfence_is 's3 get'" -s k -l key -x -d 'The key that the token was granted for (default: LOCK_KEY)'
complete -c lockfence -n "__lockfence_is 's3 get'" -l strict -d 'One write per grant: refuse an equal token as well'
complete -c lockfence -n "__lockfence_is 's3 get'" -l endpoint -x -d 'The store (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile\'s endpoint_url, then AWS)'
complete -c lockfence -n "__lockfence_is 's3 get'" -l region -x -d 'The region (default: AWS_REGION, AWS_DEFAULT_REGION, the profile\'s, then us-east-1)'
complete -c lockfence -n "__lockfence_is 's3 get'" -l profile -x -d 'The profile in the files of the aws tools (default: AWS_PROFILE)'
complete -c lockfence -n "__lockfence_is 's3 get'" -l style -x -a 'auto path virtual' -d 'Where the bucket\'s name goes: virtual, in the host\'s name; path; auto, the default, is virtual at AWS and path elsewhere'
complete -c lockfence -n "__lockfence_is 's3 get'" -F
complete -c lockfence -n "__lockfence_is 's3'" -a guard -d 'Raise the mark of a guard object, for a set of other objects'
complete -c lockfence -n "__lockfence_is 's3 guard'" -s t -l token -x -d 'The fencing token (default: LOCK_TOKEN, which lockrun sets)'
complete -c lockfence -n "__lockfence_is 's3 guard'" -l grant -x -d 'The id of the grant (default: LOCK_SESSION, when the token is LOCK_TOKEN)'
complete -c lockfence -n "__lockfence_is 's3 guard'" -s k -l key -x -d 'The key that the token was granted for (default: LOCK_KEY)'
complete -c lockfence -n "__lockfence_is 's3 guard'" -l strict -d 'One write per grant: refuse an equal token as well'
complete -c lockfence -n "__lockfence_is 's3 guard'" -l adopt -d 'Take an object without a mark under the fence, once'
complete -c lockfence -n "__lockfence_is 's3 guard'" -l rekey -d 'The object moves to another key: accept a token of this one'
complete -c lockfence -n "__lockfence_is 's3 guard'" -l endpoint -x -d 'The store (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile\'s endpoint_url, then AWS)'
complete -c lockfence -n "__lockfence_is 's3 guard'" -l region -x -d 'The region (default: AWS_REGION, AWS_DEFAULT_REGION, the profile\'s, then us-east-1)'
complete -c lockfence -n "__lockfence_is 's3 guard'" -l profile -x -d 'The profile in the files of the aws tools (default: AWS_PROFILE)'
complete -c lockfence -n "__lockfence_is 's3 guard'" -l style -x -a 'auto path virtual' -d 'Where the bucket\'s name goes: virtual, in the host\'s name; path; auto, the default, is virtual at AWS and path elsewhere'
complete -c lockfence -n "__lockfence_is 's3 guard'" -l json -d 'Print one JSON object'
complete -c lockfence -n "__lockfence_is 's3'" -a status -d 'Show the mark of an object'
complete -c lockfence -n "__lockfence_is 's3 status'" -l endpoint -x -d 'The store (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile\'s endpoint_url, then AWS)'
complete -c lockfence -n "__lockfence_is 's3 status'" -l region -x -d 'The region (default: AWS_REGION, AWS_DEFAULT_REGION, the profile\'s, then us-east-1)'
complete -c lockfence -n "__lockfence_is 's3 status'" -l profile -x -d 'The profile in the files of the aws tools (default: AWS_PROFILE)'
complete -c lockfence -n "__lockfence_is 's3 status'" -l style -x -a 'auto path virtual' -d 'Where the bucket\'s name goes: virtual, in the host\'s name; path; auto, the default, is virtual at AWS and path elsewhere'
complete -c lockfence -n "__lockfence_is 's3 status'" -l json -d 'Print one JSON object'
complete -c lockfence -n "__lockfence_is 's3'" -a probe -d 'Try whether a store refuses stale writes'
complete -c lockfence -n "__lockfence_is 's3 probe'" -l endpoint -x -d 'The store (default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile\'s endpoint_url, then AWS)'
complete -c lockfence -n "__lockfence_is 's3 probe'" -l region -x -d 'The region (default: AWS_REGION, AWS_DEFAULT_REGION, the profile\'s, then us-east-1)'
complete -c lockfence -n "__lockfence_is 's3 probe'" -l profile -x -d 'The profile in the files of the aws tools (default: AWS_PROFILE)'
complete -c lockfence -n "__lockfence_is 's3 probe'" -l style -x -a 'auto path virtual' -d 'Where the bucket\'s name goes: virtual, in the host\'s name; path; auto, the default, is virtual at AWS and path elsewhere'
complete -c lockfence -n "__lockfence_is 's3 probe'" -l json -d 'Print one JSON object'
complete -c lockfence -n "__lockfence_is ''" -a held -d 'Tell whether the lease of this job still holds'
complete -c lockfence -n "__lockfence_is 'held'" -s m -l margin -x -d 'Ask whether it holds for TIME more: what the next step takes'
complete -c lockfence -n "__lockfence_is 'held'" -s q -l quiet -d 'Say nothing where the exit status tells it all'
complete -c lockfence -n "__lockfence_is ''" -a pausetest -d 'Try whether a resource refuses a writer that lost its lease'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l write -x -a '(__fish_complete_command)' -d 'The shell line that writes to the resource'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l verify -x -a '(__fish_complete_command)' -d 'A shell line that prints what the resource holds'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l refused-status -x -d 'The status by which the write line tells that the resource refused (besides lockfence\'s own 80 to 83)'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l refused-text -x -d 'Words in the write line\'s output that tell the same'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l strict -d 'The resource takes one write per grant: a second one must be refused'
complete -c lockfence -n "__lockfence_is 'pausetest'" -s k -l key -x -d 'The key; pausetest by default'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l ttl -x -d 'How long a lease is: so long the test has to wait'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l class -x -d 'The class of lock, of the store\'s; batch by default'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l store -r -F -d 'Take the locks from this store; by default from one of the test\'s own, in a folder that is removed'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l limit -x -d 'What takes longer to write than this has failed; 30s by default'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l points -x -d 'Stop a writer at N points of its way at most; 32 by default, 0 is none'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l junit -r -F -d 'Write a JUnit report there as well'
complete -c lockfence -n "__lockfence_is 'pausetest'" -l json -d 'Print one JSON object'
complete -c lockfence -n "__lockfence_is 'pausetest'" -s q -l quiet -d 'Say nothing where the exit status tells it all'
complete -c lockfence -s h -l help -d 'Show this and exit'
complete -c lockfence -s V -l version -d 'Show the version and exit'
